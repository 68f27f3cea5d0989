"""Loop events of a conversation, found anew whenever its tip changes.

They are derived, so an imported lineage has them too; what no longer holds is taken
away again. Only columns are read, and only of the newest generations: whoever goes
round in circles does it now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from compaction.engine.policy import CompactionPolicy
from compaction.engine.repetition import LoopSign, Repeat, find_loops
from compaction.models import LoopEvent, Message, Run, Session
from compaction.store.chains import chain_to, load_stretches
from compaction.store.texts import readable

GENERATIONS = 8
"""Generations that are looked at: the newest."""

REPEATS_SHOWN = 50


def note_loops(tip: Session, policy: CompactionPolicy) -> None:
    """Bring the loop events of the newest generations up to date."""
    if not tip.compactions and tip.parent_id is None:
        return
    chain = chain_to(tip)[-GENERATIONS:]
    if len(chain) < 2:
        return
    found = find_loops(load_stretches(chain), policy)
    _save({(chain[sign.generation].pk, sign.kind.value): sign for sign in found}, chain)


Signs = Mapping[tuple[str, str], LoopSign]


def _save(wanted: Signs, chain: Sequence[Session]) -> None:
    """Write what is new or changed; the first of a cut chain is left as it was."""
    looked_at = [session.pk for session in chain[1:]]
    stored = {
        (event.session_id, event.kind): event
        for event in LoopEvent.objects.filter(session_id__in=looked_at)
    }
    gone = [event.pk for key, event in stored.items() if key not in wanted]
    if gone:
        LoopEvent.objects.filter(pk__in=gone).delete()
    for key, sign in wanted.items():
        columns = _columns(sign, chain)
        event = stored.get(key)
        if event is None:
            run = Run.objects.filter(result_session_id=key[0]).first()
            LoopEvent.objects.create(session_id=key[0], kind=key[1], run=run, **columns)
        elif any(getattr(event, name) != value for name, value in columns.items()):
            LoopEvent.objects.filter(pk=event.pk).update(**columns)


def _columns(sign: LoopSign, chain: Sequence[Session]) -> dict[str, Any]:
    return {
        "at": _moment(sign, chain[sign.generation]),
        "is_alarm": sign.is_alarm,
        "count": sign.count,
        "turns": sign.turns,
        "share": sign.share,
        "repeats": [_repeat(r, chain) for r in sign.repeats[:REPEATS_SHOWN]],
    }


def _moment(sign: LoopSign, session: Session) -> datetime:
    """When the last repetition was, else when the session began."""
    if not sign.repeats:
        return session.started_at
    last = max(repeat.position for repeat in sign.repeats)
    rows = Message.objects.filter(session=session, position=last)
    return rows.values_list("at", flat=True).first() or session.started_at


def _repeat(repeat: Repeat, chain: Sequence[Session]) -> dict[str, Any]:
    generation, position = repeat.before
    return {
        "what": readable(repeat.what),
        "position": repeat.position,
        "session": chain[generation].pk,
        "before": position,
        "times": repeat.times,
        "told": repeat.is_told,
    }
