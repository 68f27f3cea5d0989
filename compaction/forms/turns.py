"""What is posted to send a message and to begin a conversation."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy

from compaction.services.conversation_starts import DEFAULT_PROMPT, NewConversation
from compaction.services.turns.starting import TEXT_CHARS, TurnRequest


def read_turn_request(post: Mapping[str, str], operator: User) -> TurnRequest:
    """Read a message; a form without a key is a press of its own.

    A key holds for its operator alone: nobody meets another's turn by guessing it.
    """
    key = post.get("key", "")[:64] or new_key()
    return TurnRequest(
        text=post.get("text", "").replace("\r\n", "\n")[: TEXT_CHARS + 1],
        key=f"{operator.pk}:{key}",
        operator=operator,
        continue_copy=post.get("continue_copy") == "yes",
    )


def new_key() -> str:
    """Return a key for one form, so that a second press is the same turn."""
    return secrets.token_urlsafe(16)


class ConversationForm(forms.Form):
    """What a new conversation begins with."""

    title = forms.CharField(
        max_length=255,
        required=False,
        label=gettext_lazy("Title"),
        help_text=gettext_lazy("What it will be found by in the list of sessions."),
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )
    system_prompt = forms.CharField(
        max_length=100_000,
        required=False,
        initial=DEFAULT_PROMPT,
        label=gettext_lazy("System prompt"),
        help_text=gettext_lazy(
            "Sent in front of every request, with the TaskState and the memory at its "
            "end. No compaction touches it."
        ),
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
    )

    def to_conversation(self, operator: User) -> NewConversation:
        """Return what was entered; call it only when the form is valid."""
        return NewConversation(
            title=self.cleaned_data["title"],
            system_prompt=self.cleaned_data["system_prompt"],
            operator=operator,
        )
