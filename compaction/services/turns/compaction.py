"""A compaction inside a turn: a run like any other, done by the turn's own worker.

It is queued, claimed, planned, summarised and applied by the same services as
"compact now", so that it has its row, its ledger and its events, and the Timeline
shows one kind of run. The turn goes on in the session that it leads to.
"""

from __future__ import annotations

import time
from uuid import UUID

from compaction.engine.messages import Message
from compaction.engine.plan import Outcome
from compaction.engine.policy import CompactionPolicy
from compaction.engine.tokens import TokenCounter
from compaction.engine.triggers import Trigger
from compaction.engine.turn import Compacted
from compaction.models import Run, Session, Turn
from compaction.services.crash_points import AFTER_TURN_RUN, BEFORE_TURN_RUN, reach
from compaction.services.runs.starting import ACTIVE, RunRequest, cancel_run, queue_run
from compaction.services.runs.work import perform_run
from compaction.services.turns.recorder import TurnRecorder
from compaction.services.turns.stream import Kind, Shown, TurnStream
from compaction.store.messages import load_sent
from compaction.store.policies import policy_in_force

_LOOK_SECONDS = 0.5


class TurnCompactor:
    """Compacts the session that a turn is in; follows it to the next."""

    def __init__(
        self,
        turn: Turn,
        recorder: TurnRecorder,
        stream: TurnStream,
        counter: TokenCounter,
    ) -> None:
        self._turn = turn
        self._recorder = recorder
        self._stream = stream
        self._counter = counter

    def __call__(
        self, messages: tuple[Message, ...], trigger: Trigger, window: int
    ) -> Compacted:
        """Run; the messages go on unchanged unless the run changed them."""
        self._stream.enter(Turn.Step.COMPACTING, trigger.value)
        run = self._run(trigger, window)
        if run is None:
            return Compacted(outcome=Outcome.NOOP, messages=messages)
        outcome = Outcome(run.outcome) if run.outcome else Outcome.ABORTED
        child = run.result_session
        if child is None:
            return Compacted(outcome=outcome, messages=messages)
        self._recorder.follow(child, self._counter)
        return Compacted(
            outcome=outcome,
            messages=tuple(load_sent(child)),
            system_prompt=child.system_prompt,
        )

    def _run(self, trigger: Trigger, window: int) -> Run | None:
        session = self._fresh_session()
        request = RunRequest(
            policy=policy_for_window(policy_in_force(session).policy, window),
            trigger=trigger,
            turn=self._turn.pk,
        )
        queued = queue_run(session, request)
        if queued.run is None:
            return None
        shown = {"run": str(queued.run.pk), "trigger": trigger.value}
        self._stream.write(Shown(kind=Kind.RUN, data=shown))
        reach(BEFORE_TURN_RUN)
        run = self._see_through(queued.run.pk)
        reach(AFTER_TURN_RUN)
        return run

    def _see_through(self, run_id: UUID) -> Run:
        """Do the run; when another worker has it in hand, wait until it is over.

        To go on beside it would change the session under it, and waste its summary.
        """
        runs = Run.objects.select_related("result_session__conversation")
        while True:
            perform_run(run_id)
            self._stream.check()
            run = runs.get(pk=run_id)
            if not run.is_active:
                return run
            time.sleep(_LOOK_SECONDS)

    def _fresh_session(self) -> Session:
        return Session.objects.select_related("conversation__profile").get(
            pk=self._recorder.session.pk
        )


def policy_for_window(policy: CompactionPolicy, window: int) -> CompactionPolicy:
    """Return the policy for a window in tokens that may be smaller than its own."""
    if window >= policy.context_length:
        return policy
    reserved = min(policy.reserved_output, window // 2)
    return policy.evolve(context_length=max(1_000, window), reserved_output=reserved)


def cancel_runs_of(turn_id: UUID) -> None:
    """Stop the runs that a worker of this turn left behind when it died."""
    runs = Run.objects.filter(turn_id=turn_id, status__in=ACTIVE)
    for run_id in runs.values_list("pk", flat=True):
        cancel_run(run_id)
