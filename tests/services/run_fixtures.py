"""A session that is due, and ways to run it in this process."""

from __future__ import annotations

from typing import Any

from compaction.engine.presets import DEFAULT, PRESETS
from compaction.models import Run, Session
from compaction.services.runs.starting import RunRequest, queue_run
from compaction.services.runs.work import perform_run

POLICY = DEFAULT.evolve(context_length=32_000)


def run_session(session: Session, **request: Any) -> Run:
    """Queue a run and do it at once; returns it as it is stored then."""
    run = queue_run(session, RunRequest(**{"policy": POLICY, **request})).run
    assert run is not None
    perform_run(run.pk)
    run.refresh_from_db()
    return run


def preset(name: str, **changes: Any) -> Any:
    """Return a preset with a small window, so that small conversations are due."""
    return PRESETS[name].evolve(**{"context_length": 32_000, **changes})


def everything_of(session: Session) -> dict[str, Any]:
    """Return all that a failed run must leave as it was."""
    return {
        "session": Session.objects.filter(pk=session.pk).values().get(),
        "messages": list(session.messages.values()),
        "sessions": list(
            Session.objects.filter(conversation=session.conversation_id).values("pk")
        ),
        "tip": Session.objects.get(pk=session.pk).conversation.tip_id,
        "summaries": list(session.summaries.values()),
    }
