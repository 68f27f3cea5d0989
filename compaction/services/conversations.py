"""The columns of a conversation that lists live on, worked out anew from its tip.

Called in the transaction of whatever changed the tip, the policy or the TaskState;
plans from numbers only and never reads a body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from compaction import wiring
from compaction.engine.messages import Kind
from compaction.engine.outline import Outline
from compaction.engine.plan import Plan, Verdict
from compaction.engine.planning import plan_outline
from compaction.engine.policy_values import policy_to_dict
from compaction.engine.tokens import TokenOrigin
from compaction.models import (
    Conversation,
    Cooldown,
    Message,
    RecoveryEvent,
    Run,
    Session,
    Turn,
)
from compaction.services.loops import note_loops
from compaction.store import load_outline, situation_of, summary_in_force
from compaction.store.policies import policy_in_force

State = Conversation.State
_COMPACTED = ("compression", "compaction")


def refresh_conversation(
    conversation: Conversation, *, outline: Outline | None = None
) -> None:
    """Bring one conversation's columns up to date and save them.

    `outline` is that of the tip where it is at hand; else it is read.
    """
    tip = conversation.tip
    conversation.session_count = conversation.sessions.filter(undone=False).count()
    runs = Run.objects.filter(session__conversation=conversation)
    conversation.run_count = runs.count()
    conversation.last_error = last_error_of(conversation)
    if tip is not None:
        tip.conversation = conversation
        _note_tip(conversation, tip, outline)
        note_loops(tip, policy_in_force(tip).policy)
    conversation.save(update_fields=_COLUMNS)


_COLUMNS = (
    *("session_count", "run_count", "last_error", "message_count", "tokens"),
    *("tokens_origin", "threshold", "fill", "bands", "state"),
)


def refresh_conversations(found: Iterable[Conversation]) -> int:
    """Refresh many, for example all that follow a changed profile; return how many."""
    count = 0
    for conversation in found:
        refresh_conversation(conversation)
        count += 1
    return count


def _note_tip(
    conversation: Conversation, tip: Session, outline: Outline | None
) -> None:
    policy = policy_in_force(tip).policy
    outline = outline or load_outline(tip)
    situation = situation_of(
        tip,
        previous=summary_in_force(tip),
        summariser_window=wiring.summariser_window(),
    )
    plan = plan_outline(outline, policy, situation=situation)
    tokens, origin = tokens_in_window(tip, plan)
    conversation.message_count = tip.message_count
    conversation.tokens = tokens
    conversation.tokens_origin = origin
    conversation.threshold = policy.threshold_tokens
    conversation.fill = tokens / conversation.window if conversation.window else 0.0
    conversation.bands = window_bands(tip, plan, outline)
    conversation.state = _state_of(tip, plan, tokens=tokens)


def tokens_in_window(session: Session, plan: Plan) -> tuple[int, str]:
    """Return how much of the window a session fills, and who says so.

    The provider's number of the newest call wins, plus what came after it; else our
    count of the messages and of what is sent beside them.
    """
    provider = session.provider_tokens
    if provider is None or session.provider_position is None:
        return session.tokens + plan.situation.fixed_tokens, session.tokens_origin
    rows = Message.objects.filter(session=session)
    before = rows.filter(position__lt=session.provider_position).order_by("-position")
    counted = before.values_list("cumulative_tokens", flat=True).first() or 0
    return provider + max(0, session.tokens - counted), TokenOrigin.PROVIDER.value


def window_bands(session: Session, plan: Plan, outline: Outline) -> dict[str, int]:
    """Return what the window is spent on: tokens by part, in the order of the prompt.

    The parts add up to our count of the request, whatever the plan's own rule of
    counting. System messages and summaries are parts of their own.
    """
    regions = _regions(plan, outline)
    fixed = session.system_tokens + session.tools_tokens
    return {
        "system": session.system_tokens + regions["system"],
        "tools": session.tools_tokens,
        "task": max(0, plan.situation.fixed_tokens - fixed),
        "summary": regions["summary"],
        "head": regions["head"],
        "kept": regions["kept"],
        "middle": regions["middle"],
        "tail": regions["tail"],
    }


def _regions(plan: Plan, outline: Outline) -> Mapping[str, int]:
    split = plan.split
    names = ("system", "summary", "head", "kept", "middle", "tail")
    sums = dict.fromkeys(names, 0)
    kept = frozenset(split.kept)
    for position, fact in enumerate(outline.facts):
        if fact.is_system:
            name = "system"
        elif fact.kind is Kind.SUMMARY:
            name = "summary"
        elif position < split.head_end:
            name = "head"
        elif position >= split.tail_start:
            name = "tail"
        else:
            name = "kept" if position in kept else "middle"
        sums[name] += fact.tokens
    return sums


def _state_of(tip: Session, plan: Plan, *, tokens: int) -> str:
    is_over_for_good = tip.ended_at is not None or bool(tip.end_reason)
    if is_over_for_good and tip.end_reason not in _COMPACTED:
        return State.ENDED
    if max(tokens, plan.request_tokens) < plan.threshold:
        return State.IDLE
    is_stuck = plan.verdict is Verdict.STUCK or _ran_into_a_wall(tip)
    return State.STUCK if is_stuck else State.OVER


def _ran_into_a_wall(tip: Session) -> bool:
    """True when the newest run of the tip was stuck and nothing changed since.

    Another policy is a change too.
    """
    run = Run.objects.filter(session=tip).order_by("-queued_at").first()
    return (
        run is not None
        and run.outcome == Run.Outcome.STUCK
        and run.session_revision == tip.revision
        and run.policy == policy_to_dict(policy_in_force(tip).policy)
    )


def last_error_of(conversation: Conversation) -> str:
    """Return the newest error as `status reason`, empty when all went well since.

    The reason is a code; the templates say it in words.
    """
    since = _last_success(conversation)
    events = RecoveryEvent.objects.filter(
        session__conversation=conversation, kind=RecoveryEvent.Kind.ERROR
    )
    cooldowns = Cooldown.objects.filter(conversation=conversation, cleared_at=None)
    if since is not None:
        events = events.filter(at__gt=since)
        cooldowns = cooldowns.filter(started_at__gt=since)
    newest = events.order_by("-at").values_list("at", "status_code", "reason").first()
    rung = cooldowns.order_by("-started_at").values_list("started_at", "reason").first()
    found = [
        *([(newest[0], f"{newest[1] or ''} {newest[2]}")] if newest else []),
        *([(rung[0], rung[1])] if rung else []),
    ]
    return max(found)[1].strip()[:255] if found else ""


def _last_success(conversation: Conversation) -> datetime | None:
    """When a run or a turn went well the last time."""
    runs = Run.objects.filter(
        session__conversation=conversation, outcome__in=("summarised", "pruned")
    )
    turns = Turn.objects.filter(conversation=conversation, status=Turn.Status.COMPLETED)
    ends = [
        rows.order_by("-finished_at").values_list("finished_at", flat=True).first()
        for rows in (runs, turns)
    ]
    return max((end for end in ends if end is not None), default=None)
