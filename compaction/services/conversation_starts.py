"""New conversations of the console's own agent: empty, or carrying on another.

A fresh one is the way out when a conversation cannot shrink any more: it begins with
the goal and todos, the memory and the running summary of the other, which stays as it
is.
"""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from compaction import wiring
from compaction.engine.lineage import new_session_id, next_title
from compaction.engine.messages import Kind, Message, Role
from compaction.engine.phases.summary_text import wrap_summary
from compaction.models import Conversation, Session, Summary
from compaction.services.audit import Change, record_action
from compaction.services.conversations import refresh_conversation
from compaction.services.memory import copy_memory
from compaction.services.task_states import change_by_agent
from compaction.store import (
    NewMessage,
    NewSummary,
    add_summary,
    readable,
    summary_in_force,
    title_for_column,
    write_messages,
)
from compaction.store.task_states import newest_task_version

SOURCE = "console"
"""`Conversation.source` of what was begun here."""

DEFAULT_PROMPT = (
    "You are an agent that works on a task for an operator. Keep the goal and the list "
    "of things to do up to date with your tools, and work through the list until "
    "nothing is left. What you must not forget goes into your memory. Earlier parts of "
    "this conversation may have been compacted; look them up with recall_search."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewConversation:
    """What a conversation begins with; `window` in tokens, 0: the endpoint's own."""

    title: str = ""
    system_prompt: str = DEFAULT_PROMPT
    operator: User | None = None
    agent: str = "console"
    model: str = ""
    window: int = 0


def new_conversation(new: NewConversation) -> Conversation:
    """Begin a conversation of the console's own agent, without a message yet."""
    with transaction.atomic():
        conversation = _create(new)
        record_action(new.operator, "new_conversation", conversation)
        refresh_conversation(conversation)
    return conversation


def _create(new: NewConversation) -> Conversation:
    now = timezone.now()
    specs = wiring.turn_endpoints()
    window = new.window or (specs[0].window if specs else 0)
    model = new.model or (specs[0].model if specs else "")
    conversation = Conversation.objects.create(
        source=SOURCE,
        external_id=uuid.uuid4().hex,
        title=title_for_column(new.title.strip()),
        agent=new.agent[:128],
        model=model[:128],
        **({"window": window, "window_is_declared": True} if window else {}),
        active_at=now,
    )
    prompt = readable(new.system_prompt.strip())
    conversation.tip = Session.objects.create(
        id=new_session_id(now, secrets.token_hex(3)),
        conversation=conversation,
        title=conversation.title,
        model=conversation.model,
        system_prompt=prompt,
        system_tokens=wiring.get_counter(conversation.model).count(prompt),
        started_at=now,
    )
    conversation.save(update_fields=["tip"])
    return conversation


def start_fresh(
    conversation: Conversation, *, operator: User | None = None
) -> Conversation:
    """Begin a conversation that carries TaskState, memory and summary of another.

    The other is left as it is; it can still be read and searched.
    """
    tip = conversation.tip
    if tip is None:
        raise ValueError("a conversation without a session has nothing to carry")
    with transaction.atomic():
        fresh = _create(
            NewConversation(
                title=_title_after(conversation),
                system_prompt=_prompt_of(tip),
                agent=conversation.agent,
                model=conversation.model,
                window=conversation.window,
            )
        )
        fresh.profile = conversation.profile
        fresh.policy_overrides = conversation.policy_overrides
        fresh.save(update_fields=["profile", "policy_overrides"])
        carried = _carry(conversation, tip, fresh)
        record_action(
            operator,
            "start_fresh",
            fresh,
            change=Change(before={"conversation": conversation.pk}, after=carried),
        )
        refresh_conversation(fresh)
    return fresh


def _title_after(conversation: Conversation) -> str:
    opening = conversation.title[:60]
    taken = [
        *Conversation.objects.filter(title__startswith=opening).values_list("title"),
        *Session.objects.filter(conversation=conversation).values_list("title"),
    ]
    return next_title(conversation.title, [title for (title,) in taken])


def _prompt_of(tip: Session) -> str:
    """The system prompt, wherever the other conversation kept it."""
    if tip.system_prompt:
        return tip.system_prompt
    first = tip.messages.filter(role__in=("system", "developer")).first()
    return first.text if first and first.position == 0 else DEFAULT_PROMPT


def _carry(
    conversation: Conversation, tip: Session, fresh: Conversation
) -> dict[str, object]:
    state = newest_task_version(conversation).state
    if not state.is_empty:
        change_by_agent(fresh, lambda _: state)
    memories = copy_memory(conversation, fresh)
    summary = summary_in_force(tip)
    if summary is not None:
        _carry_summary(summary, fresh)
    return {
        "todos": len(state.todos),
        "memories": memories,
        "summary": summary.revision if summary else None,
    }


def _carry_summary(summary: Summary, fresh: Conversation) -> None:
    """Open the new conversation with the summary, as background and no instruction."""
    session = fresh.tip
    assert session is not None
    counter = wiring.get_counter(fresh.model)
    opening = Message(
        role=Role.ASSISTANT, content=wrap_summary(summary.text), kind=Kind.SUMMARY
    )
    new = NewMessage(message=opening, at=session.started_at)
    write_messages(session, [new], counter=counter)
    session.compactions = 1
    session.save(update_fields=["compactions"])
    carried = NewSummary(
        text=summary.text,
        origin=Summary.Origin(summary.origin),
        tokens=summary.tokens,
        model=summary.model,
        reason="carried over",
    )
    add_summary(session, carried, previous=summary)
