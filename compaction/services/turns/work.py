"""Doing a turn: claim, set the world up, let the engine run, finish. For a worker.

No transaction is open while a model is asked, a tool runs or the turn waits. A second
delivery of the same wake-up finds nothing to claim; a worker that lost its lease (it
was killed, slept too long, or an operator stopped the turn) writes nothing any more.
"""

from __future__ import annotations

import json
import logging
import os
import random
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from compaction import wiring
from compaction.engine.loop import run_turn
from compaction.engine.recovery.failover import EndpointState
from compaction.engine.tokens import TokenCounter
from compaction.engine.turn import (
    Endpoint,
    Turn as EngineTurn,
    TurnEnd,
    TurnResult,
    World,
)
from compaction.models import RecoveryEvent, Session, Turn
from compaction.services.crash_points import (
    AFTER_TURN_CLAIM,
    AFTER_TURN_END,
    BEFORE_TURN_CLAIM,
    BEFORE_TURN_END,
    reach,
)
from compaction.services.heartbeat import Pulse, keep_alive
from compaction.services.leases import Lease, LeaseLost, claim
from compaction.services.recovery_events import record_note
from compaction.services.tools.toolbox import AgentToolbox
from compaction.services.turns.compaction import (
    TurnCompactor,
    cancel_runs_of,
    policy_for_window,
)
from compaction.services.turns.ends import NO_ENDPOINT, finish_turn, give_up_turn
from compaction.services.turns.recorder import TurnRecorder
from compaction.services.turns.stream import Kind, Shown, TurnStream
from compaction.store.appending import Appender
from compaction.store.endpoint_states import endpoint_state_of, learnt_window
from compaction.store.memory import rendered_memory
from compaction.store.messages import load_sent
from compaction.store.policies import policy_in_force
from compaction.store.task_states import newest_task_version

logger = logging.getLogger(__name__)

MAX_ITERATIONS = 40


def perform_turn(turn_id: UUID) -> None:
    """Do a turn that is queued or was left behind; do nothing for any other.

    A database that cannot be used passes through as an error: the row stays as it is,
    and the sweeper sends another worker once the lease ran out.
    """
    limits = wiring.turn_limits()
    reach(BEFORE_TURN_CLAIM)
    # Durable: a caller's transaction would stay open while a model is asked.
    with transaction.atomic(durable=True):
        lease = claim(Turn, turn_id, terms=limits, worker=_signature())
    if lease is None:
        return
    reach(AFTER_TURN_CLAIM)
    try:
        with keep_alive(lease, limit=limits.work_seconds) as pulse:
            _work(lease, pulse)
    except LeaseLost:
        logger.info("Turn %s was stopped or taken over; no more is written.", turn_id)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        logger.exception("Turn %s failed unexpectedly.", turn_id)
        with suppress(LeaseLost):
            give_up_turn(lease, reason="internal_error", error=error)


def _signature() -> dict[str, object]:
    worker = f"{socket.gethostname()}:{os.getpid()}"[:128]
    started = Coalesce("started_at", timezone.now())
    return {"worker": worker, "started_at": started}


def _work(lease: Lease, pulse: Pulse) -> None:
    cancel_runs_of(lease.pk)  # those of a worker that died
    turn = Turn.objects.select_related(
        "conversation__tip__conversation__profile", "requested_by"
    ).get(pk=lease.pk)
    specs = wiring.turn_endpoints()
    session = turn.conversation.tip
    if not specs or session is None:
        give_up_turn(lease, reason=NO_ENDPOINT)
        return
    if turn.end == TurnEnd.COMPLETED:  # died between the last answer and the end
        finish_turn(lease, None, session)
        return
    work = _Work(lease, pulse, turn, session, specs)
    result = work.run()
    reach(BEFORE_TURN_END)
    finish_turn(lease, result, work.recorder.session)
    reach(AFTER_TURN_END)


class _Work:
    """One attempt at a turn, with all that it works with."""

    def __init__(
        self,
        lease: Lease,
        pulse: Pulse,
        turn: Turn,
        session: Session,
        specs: Sequence[wiring.EndpointSpec],
    ) -> None:
        self._turn = turn
        self._session = session
        self._specs = {spec.name: spec for spec in specs}
        model = session.model or turn.conversation.model
        self._counter: TokenCounter = wiring.get_counter(model)
        self._stream = TurnStream(lease, pulse)
        self._toolbox = AgentToolbox(
            turn.conversation, self._counter, folder=wiring.agent_folder()
        )
        self.recorder = TurnRecorder(
            turn,
            self._stream,
            appender=Appender(session, self._counter),
            prices={spec.name: spec.prices for spec in specs if spec.prices},
        )

    def run(self) -> TurnResult:
        """Run the engine's turn to its end."""
        self._note_attempt()
        self._note_tools()
        endpoints = endpoint_state_of(self._turn.conversation, list(self._specs))
        done = run_turn(self._start(endpoints), self._world())
        self.recorder.close()
        return done

    def _note_attempt(self) -> None:
        """Say that a turn goes on in another worker, and which calls were cut off."""
        begun = self._begun()
        shown = []
        if self._turn.attempt > 1:
            shown.append(self._note(RecoveryEvent.Kind.RESUMED))
        for name in begun.values():
            shown.append(self._note(RecoveryEvent.Kind.INTERRUPTED, before=name))
        self._stream.write(*shown, step=Turn.Step.STARTING, step_detail="")

    def _note(self, kind: RecoveryEvent.Kind, **columns: Any) -> Shown:
        event = record_note(
            self._session,
            kind,
            turn=self._turn,
            attempt=self._turn.attempt,
            detail=f"{self._turn.step} {self._turn.step_detail}".strip(),
            **columns,
        )
        return Shown(kind=Kind.EVENT, data={"event": event.pk, "kind": event.kind})

    def _begun(self) -> dict[str, str]:
        """Calls that had begun when a worker died: id to name."""
        rows = self._turn.calls.filter(ended_at=None)
        return dict(rows.values_list("call_id", "name"))

    def _note_tools(self) -> None:
        """Keep with the session what is sent beside messages, for plans to count."""
        tools = [dict(schema) for schema in self._toolbox.schemas]
        if self._session.tools == tools:
            return
        Session.objects.filter(pk=self._session.pk).update(
            tools=tools, tools_tokens=self._counter.count(json.dumps(tools))
        )

    def _start(self, endpoints: EndpointState) -> EngineTurn:
        policy = policy_in_force(self._session).policy
        window = self._window(endpoints.name, policy.context_length)
        return EngineTurn(
            messages=tuple(load_sent(self._session)),
            policy=policy_for_window(policy, window),
            endpoints=endpoints,
            system_prompt=self._session.system_prompt,
            max_iterations=max(1, MAX_ITERATIONS - self._turn.iterations),
            max_tokens=policy.reserved_output or None,
            begun_calls=frozenset(self._begun()),
        )

    def _window(self, endpoint: str, declared: int) -> int:
        learnt = learnt_window(self._turn.conversation, endpoint)
        return min(declared, self._specs[endpoint].window, learnt or declared)

    def _world(self) -> World:
        conversation = self._turn.conversation
        return World(
            endpoints={name: self._endpoint(name) for name in self._specs},
            toolbox=self._toolbox,
            counter=self._counter,
            recorder=self.recorder,
            compact=TurnCompactor(
                self._turn, self.recorder, self._stream, self._counter
            ),
            task_state=lambda: newest_task_version(conversation).state,
            memory=lambda: rendered_memory(conversation, self._counter),
            now=time.time,
            sleep=self.recorder.wait,
            uniform=random.uniform,
        )

    def _endpoint(self, name: str) -> Endpoint:
        spec = self._specs[name]
        return Endpoint(name=name, model=wiring.build_chat(spec), window=spec.window)
