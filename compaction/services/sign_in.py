"""Sign-in links: valid once and for ten minutes; only a hash is kept."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.contrib.auth.models import User
from django.utils import timezone

from compaction.models import SignInToken

VALID_FOR = timedelta(minutes=10)
_KEPT_FOR = timedelta(days=1)  # so that a late click learns why it fails


class Refusal(StrEnum):
    """Why a link does not sign anybody in."""

    UNKNOWN = "unknown"
    USED = "used"
    EXPIRED = "expired"
    INACTIVE = "inactive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redeemed:
    """A link that was good: it is used up now and `user` may be signed in."""

    user: User


def issue_sign_in_token(user: User, *, now: datetime | None = None) -> str:
    """Return a new token for a link; it cannot be read back from the database."""
    now = now or timezone.now()
    SignInToken.objects.filter(expires_at__lt=now - _KEPT_FOR).delete()
    token = secrets.token_urlsafe(32)
    SignInToken.objects.create(
        user=user,
        token_hash=_hash(token),
        created_at=now,
        expires_at=now + VALID_FOR,
    )
    return token


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A link that would sign `name` in until `expires_at`; looking uses nothing up."""

    name: str
    expires_at: datetime


def look_up(token: str, *, now: datetime | None = None) -> Waiting | Refusal:
    """Say whom a token would sign in, or why nobody; changes nothing."""
    row = _find(token)
    refusal = _refuse(row, now or timezone.now())
    if row is None or refusal is not None:
        return refusal or Refusal.UNKNOWN
    return Waiting(name=row.user.get_username(), expires_at=row.expires_at)


def redeem(token: str, *, now: datetime | None = None) -> Redeemed | Refusal:
    """Use a token up; of two that come at once exactly one is let in."""
    now = now or timezone.now()
    row = _find(token)
    refusal = _refuse(row, now)
    if row is None or refusal is not None:
        return refusal or Refusal.UNKNOWN
    unused = SignInToken.objects.filter(pk=row.pk, used_at=None, expires_at__gt=now)
    return Redeemed(user=row.user) if unused.update(used_at=now) else Refusal.USED


def _find(token: str) -> SignInToken | None:
    found = SignInToken.objects.filter(token_hash=_hash(token))
    return found.select_related("user").first()


def _refuse(row: SignInToken | None, now: datetime) -> Refusal | None:
    if row is None:
        return Refusal.UNKNOWN
    if not row.user.is_active:
        return Refusal.INACTIVE
    if row.used_at is not None:
        return Refusal.USED
    return Refusal.EXPIRED if row.expires_at <= now else None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
