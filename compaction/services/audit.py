"""The record of what operators did: append-only, each row sealed over the one before.

A seal is SHA-256 over the canonical JSON of a row and the seal before it, so that a
changed, removed or inserted row breaks the chain from there on. The newest seal and
the number of rows are kept apart in one locked row: it makes two recorders queue, and
it shows when rows were cut off at the end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from compaction.models import AuditHead, Conversation, OperatorAction, Session
from compaction.store.texts import storable

SYSTEM = "system"
"""The name that acts without a person carry, for example a start-up repair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an act changed: values before and after as JSON, and why.

    `target` names what was acted on when it is neither the session nor the
    conversation, for example a run or a profile.
    """

    target: str = ""
    reason: str = ""
    before: Any = None
    after: Any = None


NOTHING = Change()


def record_action(
    operator: User | None,
    verb: str,
    on: Session | Conversation | None = None,
    *,
    change: Change = NOTHING,
) -> OperatorAction:
    """Append one act to the chain; call it in the transaction of the act itself."""
    session = on if isinstance(on, Session) else None
    conversation = on.conversation if isinstance(on, Session) else on
    row = OperatorAction(
        at=timezone.now(),
        operator=operator,
        operator_name=operator.get_username() if operator else SYSTEM,
        verb=verb,
        conversation=conversation,
        session=session,
        target=(change.target or _name_of(on))[:128],
        reason=storable(change.reason)[:255],
        before=storable(change.before),
        after=storable(change.after),
    )
    with transaction.atomic():
        return _append(row)


def _name_of(on: Session | Conversation | None) -> str:
    if isinstance(on, Session):
        return on.pk
    return f"conversation:{on.pk}" if on else ""


def _append(row: OperatorAction) -> OperatorAction:
    AuditHead.objects.get_or_create(pk=AuditHead.ONLY)
    head = AuditHead.objects.select_for_update().get(pk=AuditHead.ONLY)
    row.previous_seal = head.seal
    row.seal = seal_of(row)
    row.save(force_insert=True)
    head.seal, head.rows = row.seal, head.rows + 1
    head.save()
    return row


def seal_of(row: OperatorAction) -> str:
    """Return the seal of a row.

    References to other tables are left out, since they are emptied when what they
    point to is deleted; `target` and `operator_name` say the same in words.
    """
    sealed = {
        "at": row.at.astimezone(UTC).isoformat(),
        "operator": row.operator_name,
        "verb": row.verb,
        "target": row.target,
        "reason": row.reason,
        "before": _plain(row.before),
        "after": _plain(row.after),
        "previous": row.previous_seal,
    }
    text = json.dumps(sealed, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: Any) -> Any:
    """Write numbers in the one way that every database gives back."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainCheck:
    """What a walk over the chain found; `broken_at` is the id of the first bad row.

    `missing` is how many rows were cut off at the end; below zero, how many were
    added by somebody who went around `record_action`.
    """

    rows: int
    broken_at: int | None = None
    missing: int = 0

    @property
    def is_whole(self) -> bool:
        """True when nothing was changed, removed or inserted."""
        return self.broken_at is None and self.missing == 0


def verify_chain() -> ChainCheck:
    """Walk over all acts, oldest first, and compare every seal."""
    seal, rows = "", 0
    for row in OperatorAction.objects.order_by("pk").iterator(chunk_size=1000):
        if row.previous_seal != seal or row.seal != seal_of(row):
            return ChainCheck(rows=rows, broken_at=row.pk)
        seal, rows = row.seal, rows + 1
    head = AuditHead.objects.filter(pk=AuditHead.ONLY).first()
    expected = head.rows if head else 0
    return ChainCheck(rows=rows, missing=expected - rows)
