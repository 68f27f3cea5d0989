"""The words of a policy's enumerations."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from compaction.engine.policy import (
    CountRule,
    CutRule,
    OnFailure,
    OnLoss,
    PruneForm,
    PruneRule,
    SummaryRole,
    Template,
)

COUNT_RULES = {
    CountRule.TOKENIZER: _("with a tokenizer"),
    CountRule.CHARS_OVER_4: _("characters / 4"),
}
CUT_RULES = {
    CutRule.SAFE: _("between tool groups only"),
    CutRule.ALIGN_TOOL: _("aligned over tool results"),
    CutRule.ALIGN_ASSISTANT: _("aligned to assistant messages"),
}
PRUNE_RULES = {
    PruneRule.BEFORE_TAIL: _("all before the tail"),
    PruneRule.BY_BUDGET: _("by token budget"),
    PruneRule.ALL_BUT_NEWEST: _("all but the newest"),
}
PRUNE_FORMS = {
    PruneForm.FACT: _("a line that says what it was"),
    PruneForm.PLACEHOLDER: _("a bare placeholder"),
}
TEMPLATES = {
    Template.HERMES: _("eight headings (Hermes)"),
    Template.TUTORIAL: _("five headings (tutorial)"),
}
SUMMARY_ROLES = {
    SummaryRole.ASSISTANT: _("assistant"),
    SummaryRole.ALTERNATE: _("whatever keeps roles alternating"),
}
ON_FAILURE = {
    OnFailure.ABORT: _("abort and keep everything"),
    OnFailure.PLACEHOLDER: _("drop the middle, leave a note"),
    OnFailure.ERROR_TEXT: _("drop the middle, leave the error text"),
}
ON_LOSS = {
    OnLoss.APPEND: _("put it back word for word"),
    OnLoss.RETRY: _("ask once more, then put it back"),
    OnLoss.WARN: _("only say so"),
}
