"""An operator's text for the running summary."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from compaction.services.summaries import SUMMARY_CHARS, SummaryEdit


class SummaryForm(forms.Form):
    """The text, the revision it was made from, and why."""

    text = forms.CharField(
        label=_("Text of the summary"),
        help_text=_("Headings begin with ## or ###, items with a hyphen."),
        max_length=SUMMARY_CHARS,
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 24, "class": "code", "spellcheck": "true"}
        ),
    )
    base_revision = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    reason = forms.CharField(
        label=_("Reason, kept with the revision"), max_length=255, required=False
    )

    def clean_text(self) -> str:
        """Undo what browsers do to line breaks."""
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")

    def to_edit(self) -> SummaryEdit:
        """Return what the service takes; call it on a valid form."""
        return SummaryEdit(
            text=self.cleaned_data["text"],
            base_revision=self.cleaned_data["base_revision"],
            reason=self.cleaned_data["reason"],
        )


class RestoreForm(forms.Form):
    """Which revision to restore, and which one stood on the page."""

    revision = forms.IntegerField(min_value=0)
    base_revision = forms.IntegerField(min_value=0)
