"""What operators did, and how they sign in."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.db import models

from compaction.models.conversation import Conversation
from compaction.models.session import Session


class OperatorAction(models.Model):
    """One act of an operator; append-only, each row sealed over the one before."""

    at = models.DateTimeField()
    operator = models.ForeignKey(
        get_user_model(), null=True, blank=True, on_delete=models.SET_NULL
    )
    operator_name = models.CharField(max_length=150)
    verb = models.CharField(max_length=48)
    conversation = models.ForeignKey(
        Conversation, null=True, blank=True, on_delete=models.SET_NULL
    )
    session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.SET_NULL
    )
    target = models.CharField(max_length=128, blank=True)
    reason = models.CharField(max_length=255, blank=True)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    previous_seal = models.CharField(max_length=64, blank=True)
    seal = models.CharField(max_length=64)

    class Meta:
        indexes = [
            models.Index(fields=["session", "-at"], name="action_by_session"),
            models.Index(fields=["-at"], name="action_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.operator_name}: {self.verb}"


class AuditHead(models.Model):
    """The end of the chain, in one row: recorders queue on it, and it remembers length.

    Only `services.audit` writes it.
    """

    ONLY = 1

    seal = models.CharField(max_length=64, blank=True)
    rows = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.rows} rows"


class SignInToken(models.Model):
    """A one-time sign-in link, valid for ten minutes; only its hash is kept."""

    user = models.ForeignKey(get_user_model(), on_delete=models.CASCADE)
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"for {self.user_id} until {self.expires_at:%H:%M:%S}"
