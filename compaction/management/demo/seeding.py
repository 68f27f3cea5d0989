"""Bringing the stories into the database, through the same services as real ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from compaction import wiring
from compaction.engine.messages import Message
from compaction.engine.phases.summary import Summariser
from compaction.engine.recovery.reasons import REMEDIES, Reason
from compaction.engine.triggers import Trigger
from compaction.management.demo import stories_code, stories_loops, stories_work
from compaction.management.demo.script import Story, Trouble
from compaction.management.demo.turns import write_turn
from compaction.management.demo.writers import ScriptedModel
from compaction.models import Conversation, RecoveryEvent, Session
from compaction.services.conversations import refresh_conversation
from compaction.services.cooldowns import start_cooldown
from compaction.services.imports.conversations import import_conversation
from compaction.services.imports.writing import Provenance
from compaction.services.policies import policy_in_force
from compaction.services.runs.starting import RunRequest, queue_run
from compaction.services.runs.work import perform_run
from compaction.services.summaries import SummaryEdit, edit_summary
from compaction.sources import SourceConversation
from compaction.sources.values import SourceMessage, SourceSession
from compaction.store import NewMessage, summary_in_force, write_messages

STORIES: tuple[Callable[[], Story], ...] = (
    stories_code.compaction_loop,
    stories_work.invoices,
    stories_code.flaky_test,
    stories_work.travel,
    stories_work.nightly_report,
    stories_code.astro_upgrade,
    stories_work.drift,
    stories_work.research,
    stories_code.checkout_pictures,
    stories_code.read_all_files,
    stories_work.slow_query,
    stories_work.refund,
    stories_code.puzzle,
    stories_loops.circles,
)
STEP = timedelta(seconds=20)  # between two messages


def seed(now: datetime) -> int:
    """Bring in the stories that are not there yet; return how many they were."""
    told = [make() for make in STORIES]
    new = [story for story in told if not _is_there(story)]
    for story in new:
        _seed_story(story, now)
    return len(new)


def _is_there(story: Story) -> bool:
    found = Conversation.objects.filter(source=story.source, external_id=_id(story))
    return found.exists()


def _id(story: Story) -> str:
    return f"demo-{story.key}"


def _seed_story(story: Story, now: datetime) -> None:
    newest = now - story.ago
    imported = import_conversation(
        _source(story, newest), Provenance(label="demo", now=now, is_demo=True)
    )
    conversation = imported.conversation
    for number, chapter in enumerate(story.chapters[1:], 1):
        session = _compact(conversation, _writer(story, number))
        _edit_summary(session, story, number)
        _append(session, chapter, newest - STEP * len(chapter))
    conversation.refresh_from_db()
    _finish(conversation, story, newest)


def _source(story: Story, newest: datetime) -> SourceConversation:
    count = sum(len(chapter) for chapter in story.chapters)
    started = newest - STEP * count - timedelta(hours=len(story.chapters) - 1)
    messages = _dated(story.chapters[0], started)
    session = SourceSession(
        external_id=_id(story),
        title=story.title,
        model=story.model,
        started_at=started,
        ended_at=newest if story.ended else None,
        end_reason="done" if story.ended else "",
        messages=messages,
    )
    return SourceConversation(
        source=story.source,
        external_id=_id(story),
        title=story.title,
        agent=story.agent,
        model=story.model,
        window=story.window,
        sessions=(session,),
        task_goal=story.goal,
        todos=story.todos,
    )


def _dated(messages: Sequence[Message], started: datetime) -> tuple[SourceMessage, ...]:
    return tuple(
        SourceMessage(message=message, at=started + STEP * number)
        for number, message in enumerate(messages)
    )


def _writer(story: Story, number: int) -> Summariser:
    """Nothing of the demo is sent to an endpoint that is set up: that would cost."""
    text = story.summaries.get(number)
    return ScriptedModel(text=text) if text else wiring.get_stand_in()


def _compact(conversation: Conversation, summariser: Summariser) -> Session:
    """Compact as a worker does it."""
    conversation.refresh_from_db()
    tip = conversation.tip
    assert tip is not None
    request = RunRequest(policy=policy_in_force(tip).policy, trigger=Trigger.MANUAL)
    queued = queue_run(tip, request)
    assert queued.run is not None, queued.refusal
    perform_run(queued.run.pk, summariser=summariser)
    queued.run.refresh_from_db()
    child = queued.run.result_session
    assert child is not None, (queued.run.outcome, queued.run.reason)
    return child


def _edit_summary(session: Session, story: Story, number: int) -> None:
    if number not in story.edits:
        return
    current = summary_in_force(session)
    assert current is not None
    before, after = story.edits[number]
    edit = SummaryEdit(
        text=current.text.replace(before, after, 1),
        base_revision=current.revision,
        reason="said twice, must not be lost",
    )
    edit_summary(session, edit, operator=_demo_operator())


def _demo_operator() -> User:
    """Somebody who never signs in, to have a name on what the demo's operator did."""
    return User.objects.get_or_create(
        username="demo-operator", defaults={"is_active": False}
    )[0]


@transaction.atomic
def _append(session: Session, chapter: Sequence[Message], started: datetime) -> None:
    session.refresh_from_db()
    new = [
        NewMessage(message=dated.message, at=dated.at)
        for dated in _dated(chapter, started)
    ]
    write_messages(session, new, counter=wiring.get_counter(session.model))


def _finish(conversation: Conversation, story: Story, newest: datetime) -> None:
    tip = conversation.tip
    assert tip is not None
    met = [
        _write_event(tip, trouble, newest - timedelta(minutes=3 * since))
        for since, trouble in _back_in_time(story.troubles)
    ]
    if story.turn is not None:
        write_turn(tip, story.turn, met, newest)
    if story.cooldown is not None:
        seconds, reason = story.cooldown
        start_cooldown(conversation, seconds=seconds, reason=reason)
    refresh_conversation(conversation)
    Conversation.objects.filter(pk=conversation.pk).update(active_at=newest)


def _back_in_time(troubles: Sequence[Trouble]) -> list[tuple[int, Trouble]]:
    return [(len(troubles) - at, trouble) for at, trouble in enumerate(troubles)]


def _write_event(session: Session, trouble: Trouble, at: datetime) -> RecoveryEvent:
    remedy = REMEDIES[Reason(trouble.reason)]
    return RecoveryEvent.objects.create(
        session=session,
        at=at,
        reason=trouble.reason,
        status_code=trouble.status,
        retryable=remedy.retry,
        should_compact=remedy.compact,
        should_fallback=remedy.fallback,
        action=trouble.action,
        attempt=trouble.attempt,
        attempts=trouble.attempts,
        delay=trouble.delay,
        endpoint=trouble.endpoint,
        detail=trouble.detail,
    )
