"""The values of one run: what a page lets an operator change before compacting.

A value that equals the policy in force is not a change: so the plan of an untouched
form is the very plan that "Compact now" applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from compaction.engine.policy import CompactionPolicy, SummaryRole, Template

FOCUS_CHARS = 500


class Slid(forms.IntegerField):
    """A number with a slider beside it; `reach` is from, to and step of the slider."""

    reach = (0, 100, 1)


class CompactForm(forms.Form):
    """Numbers of the plan, and what the summary should give the most room."""

    tail_budget = Slid(
        label=_("Tail, in tokens"),
        help_text=_("The newest messages that stay word for word."),
        min_value=1,
        max_value=10_000_000,
    )
    min_tail = forms.IntegerField(
        label=_("Tail, at least this many messages"), min_value=0, max_value=10_000
    )
    first = Slid(
        label=_("Head, messages after the system prompt"),
        help_text=_("The first messages that stay word for word."),
        min_value=0,
        max_value=10_000,
    )
    summary_max = Slid(
        label=_("Summary, at most in tokens"),
        min_value=200,
        max_value=100_000,
    )
    prune_min_chars = forms.IntegerField(
        label=_("Shorten old output above, in characters"),
        min_value=1,
        max_value=10_000_000,
    )
    min_shrink = forms.IntegerField(
        label=_("Must shrink below, in per cent"),
        help_text=_("A result that stays larger is thrown away."),
        min_value=1,
        max_value=100,
        required=False,
    )
    template = forms.ChoiceField(
        label=_("Headings of the summary"),
        choices=[
            (Template.HERMES.value, _("eight, as Hermes")),
            (Template.TUTORIAL.value, _("five, as the tutorial")),
        ],
    )
    summary_role = forms.ChoiceField(
        label=_("Role of the summary"),
        choices=[
            (SummaryRole.ASSISTANT.value, _("always assistant")),
            (SummaryRole.ALTERNATE.value, _("whichever alternates")),
        ],
    )
    focus = forms.CharField(
        label=_("Focus"),
        help_text=_("What the summary should give the most room; not a task."),
        max_length=FOCUS_CHARS,
        required=False,
        widget=forms.TextInput(),
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        policy: CompactionPolicy,
        compactions: int,
    ) -> None:
        self._policy = policy
        self._head_name = head_field(compactions)
        initial = start_values(policy, compactions)
        # What an address does not name stays as it is in force.
        bound = None if data is None else {**initial, **_given(data)}
        super().__init__(bound, initial=initial, auto_id="compact-%s")
        self._set_reaches(policy)

    def _set_reaches(self, policy: CompactionPolicy) -> None:
        """Let the sliders go as far as makes sense under this policy."""
        reaches = {
            "tail_budget": (500, max(1_000, policy.threshold_tokens), 500),
            "first": (0, 20, 1),
            "summary_max": (500, 20_000, 250),
        }
        for name, reach in reaches.items():
            field = self.fields[name]
            assert isinstance(field, Slid)
            field.reach = reach
            field.widget.attrs["data-pair"] = f"compact-{name}-range"

    def values(self) -> dict[str, Any]:
        """Return the policy values that differ from those in force; focus is none."""
        changed = {
            name: value
            for name, value in self.cleaned_data.items()
            if name != "focus" and value != self.initial[name]
        }
        return {
            self._policy_name(name): _to_policy(name, value)
            for name, value in changed.items()
        }

    @property
    def chosen_focus(self) -> str:
        """What the summary should give the most room."""
        return str(self.cleaned_data.get("focus", "")) if self.is_bound else ""

    def note_policy_error(self, field: str, reason: str) -> None:
        """Put an error of the policy beside the field that can repair it."""
        names = {self._policy_name(name): name for name in self.fields}
        names |= {"summary_min": "summary_max"}
        self.add_error(names.get(field), f"{field}: {reason}")

    def _policy_name(self, name: str) -> str:
        return {"first": self._head_name, "tail_budget": "tail_tokens"}.get(name, name)


def head_field(compactions: int) -> str:
    """Return the policy's name for how many first messages stay at this point."""
    return "protect_first_after" if compactions else "protect_first"


def start_values(policy: CompactionPolicy, compactions: int) -> dict[str, Any]:
    """Return what the form shows for a policy."""
    shrink = policy.min_shrink
    return {
        "tail_budget": policy.tail_budget,
        "min_tail": policy.min_tail,
        "first": getattr(policy, head_field(compactions)),
        "summary_max": policy.summary_max,
        "prune_min_chars": policy.prune_min_chars,
        "min_shrink": None if shrink is None else round(shrink * 100),
        "template": policy.template.value,
        "summary_role": policy.summary_role.value,
        "focus": "",
    }


def _given(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in CompactForm.base_fields if name in data}


def _to_policy(name: str, value: Any) -> Any:
    if name == "min_shrink":
        return None if value is None else value / 100
    return value
