"""An operator's answer to a loss."""

from __future__ import annotations

from django import forms

from compaction.services.losses import Answer


class LossForm(forms.Form):
    """Which loss, what is to be done about it, and which revision stood on the page."""

    loss = forms.RegexField(r"\A[0-9a-f]{32}\Z")
    answer = forms.ChoiceField(choices=[(a.value, a.value) for a in Answer])
    base_revision = forms.IntegerField(min_value=0)
