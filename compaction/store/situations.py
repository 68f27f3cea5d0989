"""What a plan depends on beside messages and policy, read from the rows."""

from __future__ import annotations

from compaction.engine.plan import OpenCalls, Situation
from compaction.engine.triggers import Trigger
from compaction.models import Conversation, Session, Summary, TaskState


def situation_of(
    session: Session,
    trigger: Trigger = Trigger.MANUAL,
    *,
    focus: str = "",
    previous: Summary | None,
    summariser_window: int,
) -> Situation:
    """Return the situation of a session at this moment.

    `previous` is its `summary_in_force()`: who plans for a page shows it too.
    """
    return Situation(
        trigger=trigger,
        compactions=session.compactions,
        previous_summary=previous.text if previous else "",
        fixed_tokens=fixed_tokens(session),
        focus=focus,
        open_calls=open_calls_of(session),
        summariser_window=summariser_window,
    )


def fixed_tokens(session: Session) -> int:
    """Tokens sent beside the messages: system prompt, tools, TaskState, memory."""
    states = TaskState.objects.filter(conversation_id=session.conversation_id)
    task_state = states.values_list("tokens", flat=True).first() or 0
    own = session.system_tokens + session.tools_tokens
    return own + task_state + session.conversation.memory_tokens


def open_calls_of(session: Session) -> OpenCalls:
    """A live agent will answer its open call; of a copy or an ended session nobody."""
    conversation = session.conversation
    is_foreign = is_copy(conversation) and not conversation.may_continue
    if session.ended_at or is_foreign:
        return OpenCalls.LEAVE
    return OpenCalls.WAIT


def is_copy(conversation: Conversation) -> bool:
    """True for a conversation that was imported: the agent's own one is elsewhere."""
    return bool(conversation.imported_from) or conversation.is_demo
