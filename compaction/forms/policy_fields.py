"""What each value of a policy is called, and in what it is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from compaction.forms.policy_choices import (
    COUNT_RULES,
    CUT_RULES,
    ON_FAILURE,
    ON_LOSS,
    PRUNE_FORMS,
    PRUNE_RULES,
    SUMMARY_ROLES,
    TEMPLATES,
)

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise as Text


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldText:
    """One value of a policy in words.

    `unit` is ratio, factor, count, tokens, chars, messages, runs, turns, flag or
    choice; `may_be_none`: the word "none" switches the rule off; `choices` are the
    words of an enumeration.
    """

    name: str
    label: Text
    help: Text = ""
    unit: str = "tokens"
    may_be_none: bool = False
    choices: Mapping[Any, Text] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldGroup:
    """Values that belong together."""

    name: str
    label: Text
    fields: Sequence[FieldText]


WHEN = FieldGroup(
    name="when",
    label=_("When a run is due"),
    fields=(
        FieldText(
            name="threshold_ratio",
            label=_("Threshold, share of the window"),
            help=_("A run is due from this share of the window on: 0.5 is 50 %."),
            unit="ratio",
        ),
        FieldText(
            name="threshold_cap",
            label=_("Threshold, at most"),
            help=_("An absolute limit; the lower of both wins."),
            may_be_none=True,
        ),
        FieldText(
            name="reserved_output",
            label=_("Reserved for the answer"),
            help=_("Taken off the window before the share is reckoned."),
        ),
        FieldText(
            name="message_gate",
            label=_("Needs more than"),
            help=_("A run before a request also needs more messages than this."),
            unit="messages",
            may_be_none=True,
        ),
        FieldText(
            name="count_rule",
            label=_("Tokens are counted"),
            unit="choice",
            choices=COUNT_RULES,
        ),
        FieldText(name="image_tokens", label=_("A picture counts as")),
    ),
)
HEAD = FieldGroup(
    name="head",
    label=_("Head"),
    fields=(
        FieldText(
            name="protect_first",
            label=_("First messages that stay"),
            help=_("Word for word, until the first compaction."),
            unit="messages",
        ),
        FieldText(
            name="protect_first_after",
            label=_("The same from the second compaction on"),
            help=_("With 0 only the system prompt stays."),
            unit="messages",
        ),
        FieldText(
            name="protect_first_counts_system",
            label=_("The system prompt is one of them"),
            unit="flag",
        ),
    ),
)
TAIL = FieldGroup(
    name="tail",
    label=_("Tail"),
    fields=(
        FieldText(
            name="tail_ratio",
            label=_("Budget, share of the threshold"),
            help=_("Recent messages stay word for word up to this size."),
            unit="ratio",
        ),
        FieldText(
            name="tail_tokens",
            label=_("Budget, absolute"),
            help=_("Wins over the share."),
            may_be_none=True,
        ),
        FieldText(
            name="tail_ceiling",
            label=_("May exceed the budget by the factor"),
            help=_("So that a tool group at its edge is not parted."),
            unit="factor",
        ),
        FieldText(name="min_tail", label=_("At least"), unit="messages"),
        FieldText(
            name="anchor_newest",
            label=_("The newest request and reply always stay"),
            unit="flag",
        ),
        FieldText(
            name="cut_rule", label=_("Cuts fall"), unit="choice", choices=CUT_RULES
        ),
    ),
)
PRUNE = FieldGroup(
    name="prune",
    label=_("Shortening old tool output"),
    fields=(
        FieldText(
            name="prune_rule",
            label=_("What is shortened"),
            unit="choice",
            choices=PRUNE_RULES,
        ),
        FieldText(
            name="prune_form",
            label=_("What is left"),
            unit="choice",
            choices=PRUNE_FORMS,
        ),
        FieldText(name="prune_min_chars", label=_("Results longer than"), unit="chars"),
        FieldText(
            name="prune_keep_newest",
            label=_("Newest results left whole"),
            unit="count",
        ),
        FieldText(
            name="prune_args_chars",
            label=_("Call arguments longer than"),
            help=_("0 leaves arguments alone."),
            unit="chars",
        ),
        FieldText(
            name="prune_enough",
            label=_("Enough without a summary, share of the threshold"),
            help=_("When shortening alone goes below this, no model is asked."),
            unit="ratio",
            may_be_none=True,
        ),
    ),
)
TRANSCRIPT = FieldGroup(
    name="transcript",
    label=_("What the summariser reads"),
    fields=(
        FieldText(name="clip_over_chars", label=_("Clip messages over"), unit="chars"),
        FieldText(name="clip_head_chars", label=_("Kept of the start"), unit="chars"),
        FieldText(name="clip_tail_chars", label=_("Kept of the end"), unit="chars"),
        FieldText(name="args_over_chars", label=_("Clip arguments over"), unit="chars"),
        FieldText(
            name="args_head_chars", label=_("Kept of the arguments"), unit="chars"
        ),
        FieldText(
            name="clip_every_role",
            label=_("Clip every role, not only tools"),
            unit="flag",
        ),
        FieldText(
            name="list_evidence",
            label=_("Evidence beside the transcript"),
            help=_(
                "Old outputs are shortened, and what they say is listed word for word."
            ),
            unit="flag",
        ),
    ),
)
SUMMARY = FieldGroup(
    name="summary",
    label=_("The summary"),
    fields=(
        FieldText(
            name="template", label=_("Headings"), unit="choice", choices=TEMPLATES
        ),
        FieldText(
            name="summary_ratio", label=_("Length, share of the middle"), unit="ratio"
        ),
        FieldText(name="summary_min", label=_("At least")),
        FieldText(name="summary_max", label=_("At most")),
        FieldText(
            name="summary_window_ratio",
            label=_("At most, share of the window"),
            unit="ratio",
            may_be_none=True,
        ),
        FieldText(
            name="summary_role",
            label=_("Role of its message"),
            unit="choice",
            choices=SUMMARY_ROLES,
        ),
        FieldText(
            name="system_note", label=_("A note in the system prompt"), unit="flag"
        ),
        FieldText(
            name="memory_flush",
            label=_("The agent writes its memory first"),
            help=_("Only for conversations of the console's own agent."),
            unit="flag",
        ),
    ),
)
OUTCOME = FieldGroup(
    name="outcome",
    label=_("Success, failure, repetition"),
    fields=(
        FieldText(
            name="min_shrink",
            label=_("Must shrink below"),
            help=_("A result larger than this share of the input is discarded."),
            unit="ratio",
            may_be_none=True,
        ),
        FieldText(
            name="on_failure",
            label=_("When the summary fails"),
            unit="choice",
            choices=ON_FAILURE,
        ),
        FieldText(
            name="pin_constraints",
            label=_("Carry the user's constraints word for word"),
            help=_("In a section that no model writes, at most 2 % of the threshold."),
            unit="flag",
        ),
        FieldText(
            name="on_loss",
            label=_("When a constraint or an open todo is lost"),
            help=_("By a model's summary: the embedded one is only audited."),
            unit="choice",
            choices=ON_LOSS,
        ),
        FieldText(name="warn_from", label=_("Warn from compaction"), unit="runs"),
        FieldText(name="loop_runs", label=_("A loop is at least"), unit="runs"),
        FieldText(
            name="loop_turns",
            label=_("within"),
            help=_("Answers of the model between the first and the last of them."),
            unit="turns",
        ),
        FieldText(
            name="loop_alike",
            label=_("Summaries count as equal from"),
            help=_("Only where no user spoke between the two."),
            unit="ratio",
        ),
        FieldText(
            name="loop_rereads",
            label=_("Alarm when read again after a run"),
            help=_("Files or searches that a run took out of the window."),
            unit="items",
        ),
    ),
)

GROUPS: Sequence[FieldGroup] = (WHEN, HEAD, TAIL, PRUNE, TRANSCRIPT, SUMMARY, OUTCOME)
FIELDS: Mapping[str, FieldText] = {
    field.name: field for group in GROUPS for field in group.fields
}
