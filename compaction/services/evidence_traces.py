"""What became of a lineage's evidence, worked out in a worker: it takes seconds."""

from __future__ import annotations

from django.utils import timezone

from compaction.engine.evidence.survival import trace
from compaction.models import EvidenceTrace, Session
from compaction.store.chains import chain_to, load_generations, mark_of
from compaction.store.evidence_traces import save_trace


def trace_lineage(session_id: str) -> bool:
    """Bring the trace of the chain that ends in a session up to date.

    True when it was worked out now; a second wake-up finds nothing to do. What changed
    meanwhile makes the mark an old one, and the next reader asks again.
    """
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        return False
    chain = chain_to(session)
    mark = mark_of(chain)
    if EvidenceTrace.objects.filter(session=session, mark=mark).exists():
        return False
    lives = trace(load_generations(chain))
    save_trace(session, lives, chain=chain, mark=mark, at=timezone.now())
    return True
