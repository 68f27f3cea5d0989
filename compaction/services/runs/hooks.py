"""Calling the code of others around a compaction, without ever depending on it.

Each hook runs in a thread of its own with a deadline. One that fails is logged and
becomes an event of the Timeline; one that is slow is left behind and logged too (a
thread cannot be stopped). Neither stops the run.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import connections
from django.dispatch import Signal
from django.utils.module_loading import import_string

from compaction import wiring
from compaction.models import RecoveryEvent, Run
from compaction.services.recovery_events import record_note
from compaction.services.runs.context import RunContext
from compaction.signals import (
    CompactionFinished,
    CompactionStarting,
    compaction_finished,
    compaction_starting,
)

logger = logging.getLogger(__name__)

Kind = RecoveryEvent.Kind


def call_before(context: RunContext) -> None:
    """Tell the hooks that a run is about to change its session."""
    run = context.run
    starting = CompactionStarting(
        run_id=str(run.pk),
        session_id=context.session.pk,
        conversation_id=context.session.conversation_id,
        trigger=run.trigger,
        plan=context.plan,
    )
    signal = _of_signal(compaction_starting, "compaction_starting", starting=starting)
    _call_all(run, [*signal, *_of_paths(wiring.compaction_hooks().before, starting)])


def call_after(context: RunContext) -> None:
    """Tell the hooks how a run ended."""
    run = Run.objects.get(pk=context.run.pk)
    finished = CompactionFinished(
        run_id=str(run.pk),
        session_id=context.session.pk,
        conversation_id=context.session.conversation_id,
        trigger=run.trigger,
        plan=context.plan,
        status=run.status,
        outcome=run.outcome,
        result_session_id=run.result_session_id or "",
    )
    signal = _of_signal(compaction_finished, "compaction_finished", finished=finished)
    _call_all(run, [*signal, *_of_paths(wiring.compaction_hooks().after, finished)])


@dataclass(slots=True, kw_only=True)
class _Hook:
    """Something to call; `fault` is what came of it."""

    name: str
    call: Callable[[], object]
    fault: BaseException | None = None
    over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        try:
            self.call()
        except BaseException as error:
            self.fault = error
        finally:
            connections.close_all()  # those of this thread
            self.over.set()


def _of_signal(signal: Signal, name: str, **values: Any) -> list[_Hook]:
    """One hook for all receivers of a signal; none when there are none."""
    if not signal.receivers:
        return []
    (value,) = values.values()
    return [_Hook(name=name, call=lambda: signal.send(sender=type(value), **values))]


def _of_paths(paths: Sequence[str], value: object) -> list[_Hook]:
    return [_Hook(name=path, call=partial(_call_path, path, value)) for path in paths]


def _call_path(path: str, value: object) -> None:
    import_string(path)(value)


def _call_all(run: Run, hooks: Sequence[_Hook]) -> None:
    seconds = wiring.compaction_hooks().seconds
    for hook in hooks:
        thread = threading.Thread(
            target=hook.run, name=f"hook-{hook.name}", daemon=True
        )
        thread.start()
        if not hook.over.wait(seconds):
            logger.warning("The hook %s takes more than %s s.", hook.name, seconds)
            _note(run, Kind.HOOK_SLOW, hook, delay=seconds)
        elif hook.fault is not None:
            logger.error("The hook %s failed.", hook.name, exc_info=hook.fault)
            fault = f"{type(hook.fault).__name__}: {hook.fault}"
            _note(run, Kind.HOOK_FAILED, hook, detail=fault)


def _note(run: Run, kind: RecoveryEvent.Kind, hook: _Hook, **columns: Any) -> None:
    record_note(
        run.session,
        kind,
        turn=run.turn,
        run=run,
        before=hook.name[:128],
        action="ignored",
        **columns,
    )
