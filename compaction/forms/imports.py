"""Files to import."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _


class FilesInput(forms.ClearableFileInput):
    """A file field that takes several."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files; cleans to a list of them."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Check each file as a single one would be."""
        files = data if isinstance(data, list | tuple) else [data]
        clean_one = super().clean
        return [clean_one(file, initial) for file in files or [None]]


class UploadForm(forms.Form):
    """The files of one upload."""

    upload = FilesField(
        label=_("Files"),
        help_text=_(
            "state.db of a Hermes Agent, its exports, OpenAI messages as JSON or "
            "JSONL, and logs of Claude Code, Codex, pi, SWE-agent, mini-swe-agent, "
            "tau-bench and OpenHands. The content decides, not the name."
        ),
        allow_empty_file=True,
        max_length=255,
        error_messages={"required": _("Choose at least one file.")},
    )

    @property
    def uploads(self) -> list[UploadedFile[bytes]]:
        """The files; call it on a valid form."""
        return list(self.cleaned_data["upload"])
