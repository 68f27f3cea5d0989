"""Keeping a turn as it happens: each message, call, error and figure before the next.

A message is stored together with what it cost and with what the page shows of it, in
one transaction. A tool call is noted before it runs, its result with its end: a worker
that dies in between leaves a call that has begun, and nobody runs it again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from compaction import wiring
from compaction.engine.llm import Completion
from compaction.engine.messages import Message, ToolCall
from compaction.engine.tokens import TokenCounter
from compaction.engine.turn import CallFailure, Moved, TurnEnd
from compaction.models import RecoveryEvent, Session, Turn, TurnCall
from compaction.services.crash_points import (
    AFTER_ANSWER,
    AFTER_BEGIN_CALL,
    AFTER_RESULT,
    BEFORE_ANSWER,
    BEFORE_RESULT,
    reach,
)
from compaction.services.recovery_events import record_failure, record_move
from compaction.services.turns.spending import Spend, columns_of, cost_of, is_last
from compaction.services.turns.stream import SHOWN_CHARS, Kind, Shown, TurnStream
from compaction.store import readable
from compaction.store.appending import Appender, RealUsage
from compaction.store.texts import id_for_column

_CHECK_SECONDS = 0.5


class TurnRecorder:
    """The engine's Recorder over rows; everything raises LeaseLost."""

    def __init__(
        self,
        turn: Turn,
        stream: TurnStream,
        *,
        appender: Appender,
        prices: Mapping[str, wiring.Prices],
    ) -> None:
        self._turn = turn
        self._stream = stream
        self._appender = appender
        self._prices = prices
        self._spend: Spend | None = None
        self._call: TurnCall | None = None
        self._calls = turn.calls.count()
        self._sent = appender.position
        self._endpoint = turn.endpoint

    @property
    def session(self) -> Session:
        """The session that the turn goes on in at this moment."""
        return self._appender.session

    def follow(self, session: Session, counter: TokenCounter) -> None:
        """Go on in the session that a compaction led to."""
        self._appender = Appender(session, counter)

    # what the engine calls

    def add_message(self, message: Message) -> None:
        """Store a message, with what its answer cost or with the end of its call."""
        answers = message.is_result
        reach(BEFORE_RESULT if answers else BEFORE_ANSWER)
        with transaction.atomic():
            self._add_result(message) if answers else self._add_said(message)
        reach(AFTER_RESULT if answers else AFTER_ANSWER)

    def begin_call(self, call: ToolCall) -> None:
        """Note that a call begins, before it does."""
        self._calls += 1
        shown = Shown(
            kind=Kind.CALL,
            data={
                "id": call.id,
                "name": call.name[:128],
                "arguments": call.arguments[:SHOWN_CHARS],
            },
        )
        with transaction.atomic():
            self._call = TurnCall.objects.create(
                turn=self._turn,
                number=self._calls,
                call_id=id_for_column(call.id),
                name=readable(call.name)[:128],
                attempt=self._stream.lease.attempt,
                begun_at=timezone.now(),
            )
            self._stream.write(
                shown,
                step=Turn.Step.TOOL,
                step_detail=readable(call.name)[:128],
                calls_made=self._calls,
            )
        reach(AFTER_BEGIN_CALL)

    def answered(self, endpoint: str, completion: Completion) -> None:
        """Take the figures of an answer; they are stored with what it says."""
        self._store_spend()
        self._endpoint = endpoint
        self._spend = Spend(
            completion=completion,
            endpoint=endpoint,
            cost=cost_of(completion.usage, self._prices.get(endpoint)),
        )

    def failed(self, failure: CallFailure) -> None:
        """Store a failed call and what is done about it."""
        self._store_spend()
        with transaction.atomic():
            event = record_failure(self.session, self._turn, failure)
            self._stream.write(_shown_event(event), endpoint=failure.endpoint[:128])

    def moved(self, event: Moved) -> None:
        """Store a change of the endpoint or the window."""
        self._store_spend()
        with transaction.atomic():
            row = record_move(self.session, self._turn, event, endpoint=self._endpoint)
            self._stream.write(_shown_event(row))

    def stream(self, text: str) -> None:
        """Show a piece of the answer."""
        self._stream.text(text)

    def check(self) -> None:
        """Raise LeaseLost if the turn was stopped or taken over; a call comes next."""
        self._sent = self._appender.position
        self._stream.enter(Turn.Step.CALLING, self._endpoint)

    def wait(self, seconds: float) -> None:
        """Wait, shown with its end; raises LeaseLost within a second of a stop."""
        until = timezone.now() + timedelta(seconds=seconds)
        shown = Shown(
            kind=Kind.WAIT,
            data={"seconds": round(seconds, 1), "until": until.isoformat()},
        )
        self._stream.write(shown, step=Turn.Step.WAITING, wait_until=until)
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            time.sleep(min(left, _CHECK_SECONDS))
            self._stream.check()

    def close(self) -> None:
        """Store what is still waiting."""
        self._store_spend()

    # how it is kept

    def _add_said(self, message: Message) -> None:
        spend, self._spend = self._spend, None
        usage = spend.completion.usage if spend else None
        counted = usage.input_tokens if usage else 0
        real = RealUsage(tokens=counted, position=self._sent) if counted else None
        position = self._appender.append(message, at=timezone.now(), usage=real)
        shown = Shown(
            kind=Kind.ANSWER,
            data={
                "position": position,
                "session": self.session.pk,
                "kind": message.kind.value,
                "role": message.role.value,
            },
        )
        end = TurnEnd.COMPLETED.value if is_last(message, spend) else ""
        self._stream.write(shown, end=end, **columns_of(spend))

    def _add_result(self, message: Message) -> None:
        call, self._call = self._call, None
        now = timezone.now()
        position = self._appender.append(message, at=now)
        open_calls = TurnCall.objects.filter(turn=self._turn, ended_at=None)
        if call is not None:
            open_calls = open_calls.filter(pk=call.pk)
        else:
            call_id = id_for_column(message.tool_call_id or "")
            open_calls = open_calls.filter(call_id=call_id)
        open_calls.update(ended_at=now)
        shown = Shown(
            kind=Kind.RESULT,
            text=message.text[:SHOWN_CHARS],
            data={
                "id": message.tool_call_id or "",
                "name": call.name if call else "",
                "position": position,
                "session": self.session.pk,
                "chars": len(message.text),
            },
        )
        self._stream.write(shown)

    def _store_spend(self) -> None:
        """Store the cost of an answer that led to no message (empty, cut off)."""
        spend, self._spend = self._spend, None
        if spend is not None:
            self._stream.write(**columns_of(spend))


def _shown_event(event: RecoveryEvent) -> Shown:
    data = {
        "event": event.pk,
        "kind": event.kind,
        "reason": event.reason,
        "action": event.action,
    }
    return Shown(kind=Kind.EVENT, data=data)
