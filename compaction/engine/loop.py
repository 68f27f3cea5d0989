"""One agent turn: move the task on, keep the budget, recover from errors.

Pure but for what `World` brings. Every path has its budget (`Spent`), so every turn
ends, with a stated reason (article 003: the host's three things at once).
"""

from __future__ import annotations

from dataclasses import replace

from compaction.engine.calling import Caller
from compaction.engine.context import Context
from compaction.engine.llm import Completion
from compaction.engine.messages import Kind, Message, Role, ToolCall
from compaction.engine.recovery.continuation import (
    CONTINUE_TEXT,
    NextStep,
    next_step,
)
from compaction.engine.recovery.failover import begin_turn
from compaction.engine.turn import (
    Move,
    Moved,
    Turn,
    TurnEnd,
    TurnResult,
    TurnStopped,
    World,
)

INTERRUPTED = (
    "[The worker was interrupted while this call ran. It may have taken effect; "
    "look before you run it again.]"
)


def run_turn(turn: Turn, world: World) -> TurnResult:
    """Run one turn to its end; everything is recorded as it happens."""
    state = _restore_primary(turn, world)
    context = Context(state, world)
    caller = Caller(state, world, context)
    end = TurnEnd.ITERATIONS_EXHAUSTED
    iterations = 0
    try:
        _finish_open_calls(context, world, turn.begun_calls)
        while iterations < turn.max_iterations:
            iterations += 1
            if not _take_step(turn, world, context, caller):
                end = TurnEnd.COMPLETED
                break
    except TurnStopped as stopped:
        end = stopped.end
    return TurnResult(
        end=end,
        messages=tuple(context.messages),
        endpoints=caller.endpoints,
        iterations=iterations,
        window=context.window,
        error=caller.last_error,
        decision=caller.last_decision,
    )


def _restore_primary(turn: Turn, world: World) -> Turn:
    endpoints = begin_turn(turn.endpoints, world.now())
    if endpoints.name != turn.endpoints.name:
        world.recorder.moved(
            Moved(move=Move.RESTORED, before=turn.endpoints.name, after=endpoints.name)
        )
    return replace(turn, endpoints=endpoints)


def _finish_open_calls(context: Context, world: World, begun: frozenset[str]) -> None:
    """Answer the calls a dead worker left: what had begun is never run again.

    An answer that was cut off, and whose continuation was not asked for yet, is
    continued as it would have been.
    """
    last = context.messages[-1] if context.messages else None
    if last and last.role is Role.ASSISTANT and not last.tool_calls:
        context.add(_continue_message())
    for call in context.open_calls():
        if call.id in begun:
            _add_result(context, call, INTERRUPTED)
        else:
            _run_call(context, world, call)


def _take_step(turn: Turn, world: World, context: Context, caller: Caller) -> bool:
    """One call and what it asks for; False when the turn is complete."""
    world.recorder.check()
    context.compact_if_due()
    completion = _get_answer(turn, world, context, caller)
    if not completion.tool_calls:
        return False
    for call in context.open_calls():
        world.recorder.check()
        _run_call(context, world, call)
    context.compact_after_tools(completion.usage)
    return True


def _run_call(context: Context, world: World, call: ToolCall) -> None:
    world.recorder.begin_call(call)
    _add_result(context, call, world.toolbox.run(call))


def _add_result(context: Context, call: ToolCall, text: str) -> None:
    context.add(Message(role=Role.TOOL, content=text, tool_call_id=call.id))


def _get_answer(
    turn: Turn, world: World, context: Context, caller: Caller
) -> Completion:
    """Call until there is a whole answer: continue a cut one, refuse an empty one."""
    used, empty = 0, 0
    previous: str | None = None
    limit = turn.retry.continuations
    while True:
        completion = caller.call(output_factor=2**used if previous is None else 1)
        step = next_step(completion, used=used, limit=limit, previous_text=previous)
        if step is NextStep.ACCEPT and not _is_empty(completion):
            context.add(answer_message(completion))
            return completion
        if step is NextStep.ACCEPT:
            empty += 1
            if empty >= turn.retry.attempts:
                raise TurnStopped(TurnEnd.EMPTY_REPLIES)
            caller.note_empty_reply(empty)
            continue
        _stop_unless_going_on(step, completion, context)
        used += 1
        world.recorder.moved(Moved(move=Move.CONTINUED, number=used, limit=limit))
        if step is NextStep.CONTINUE:
            previous = completion.text
            context.add(answer_message(completion))
            context.add(_continue_message())


def _continue_message() -> Message:
    return Message(role=Role.USER, content=CONTINUE_TEXT, kind=Kind.SYNTHETIC)


_STOPS = {
    NextStep.THINKING_BUDGET_EXHAUSTED: TurnEnd.THINKING_BUDGET_EXHAUSTED,
    NextStep.IDENTICAL_CONTINUATION: TurnEnd.IDENTICAL_CONTINUATION,
    NextStep.BUDGET_EXHAUSTED: TurnEnd.CONTINUATIONS_EXHAUSTED,
}


def _stop_unless_going_on(
    step: NextStep, completion: Completion, context: Context
) -> None:
    """End the turn where going on is no use; the words that came are kept.

    No blank assistant message is ever stored (hermes#83915), and a second copy of
    the same words is not either (hermes#58087).
    """
    if step not in _STOPS:
        return
    partial = step is NextStep.BUDGET_EXHAUSTED and not completion.tool_calls
    if partial and completion.text.strip():
        context.add(answer_message(completion))
    raise TurnStopped(_STOPS[step])


def _is_empty(completion: Completion) -> bool:
    return not completion.text.strip() and not completion.tool_calls


def answer_message(completion: Completion) -> Message:
    """Turn an answer into a message of the conversation."""
    extra = {"reasoning_content": completion.reasoning} if completion.reasoning else {}
    return Message(
        role=Role.ASSISTANT,
        content=completion.text,
        tool_calls=_read_calls(completion),
        extra=extra,
    )


def _read_calls(completion: Completion) -> tuple[ToolCall, ...]:
    """Read the calls; each gets an id of its own, or its result would find another."""
    calls: list[ToolCall] = []
    for number, raw in enumerate(completion.tool_calls, 1):
        call = _read_call(raw)
        if not call.id or any(call.id == earlier.id for earlier in calls):
            call = replace(call, id=f"{call.id or 'call'}_{number}")
        calls.append(call)
    return tuple(calls)


def _read_call(raw: object) -> ToolCall:
    call = raw if isinstance(raw, dict) else {}
    function = call.get("function") or {}
    return ToolCall(
        id=str(call.get("id") or ""),
        name=str(function.get("name") or ""),
        arguments=str(function.get("arguments") or ""),
    )
