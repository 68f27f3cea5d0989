"""A summary loses the list of files; the agent reads them again, and it is told."""

from __future__ import annotations

import pytest

from compaction.engine.evidence.items import EvidenceKind
from compaction.engine.evidence.survival import Fate, trace
from compaction.engine.messages import Role
from compaction.engine.presets import DEFAULT
from compaction.engine.tokens import RoughCounter
from compaction.models import LoopEvent, Session
from compaction.services.conversations import refresh_conversation
from compaction.services.runs.starting import RunRequest, queue_run
from compaction.services.runs.work import perform_run
from compaction.services.summaries import SummaryEdit, edit_summary
from compaction.store import NewMessage, summary_in_force, write_messages
from compaction.store.chains import chain_to, load_generations
from tests.conversations import answer, call, long_work, say, store_session

pytestmark = pytest.mark.django_db(transaction=True)

POLICY = DEFAULT.evolve(context_length=8_000, prune_enough=None)


def compact(session: Session) -> Session:
    queued = queue_run(session, RunRequest(policy=POLICY))
    assert queued.run is not None
    perform_run(queued.run.pk)
    queued.run.refresh_from_db()
    child = queued.run.result_session
    assert child is not None, (queued.run.outcome, queued.run.reason)
    return child


def lose_the_files(session: Session) -> None:
    """An operator's edit, in place of a model that forgets."""
    current = summary_in_force(session)
    assert current is not None
    text = "## Goal\nTidy the sample.\n## Next Steps\n- go on"
    edited = edit_summary(
        session, SummaryEdit(text=text, base_revision=current.revision), operator=None
    )
    assert edited is not None


def read_again(session: Session, *numbers: int) -> None:
    new = []
    for number in numbers:
        new += [call(900 + number, f"src/part_{number}.py"), answer(900 + number, "x")]
    session.refresh_from_db()
    write_messages(
        session,
        [NewMessage(message=message) for message in new],
        counter=RoughCounter(),
    )
    session.conversation.tip = session
    refresh_conversation(session.conversation)


def test_files_read_again_after_a_run_become_one_event_of_that_session() -> None:
    child = compact(store_session(long_work()))
    lose_the_files(child)
    opened_with = child.messages.count()

    read_again(child, 2, 3, 4)

    (event,) = LoopEvent.objects.filter(session=child)
    assert (event.kind, event.is_alarm, event.count) == ("reread", True, 3)
    assert event.run is not None
    assert event.run.result_session_id == child.pk
    assert event.repeats[0] == {
        "what": "src/part_2.py",
        "position": opened_with,
        "session": child.parent_id,
        "before": 6,
        "times": 1,
        "told": False,
    }


def test_one_event_grows_and_none_is_written_twice() -> None:
    child = compact(store_session(long_work()))
    read_again(child, 2)
    read_again(child, 3)
    refresh_conversation(child.conversation)

    (event,) = LoopEvent.objects.all()
    assert event.count == 2


def test_a_conversation_that_was_never_compacted_has_none() -> None:
    session = store_session([*long_work(4), say(Role.USER, "again")])
    read_again(session, 2)

    assert not LoopEvent.objects.exists()


def test_the_lost_file_is_named_with_the_place_where_it_was_read_first() -> None:
    parent = store_session(long_work())
    child = compact(parent)
    lose_the_files(child)

    lives = trace(load_generations(chain_to(child)))

    lost = {
        life.item.text: life
        for life in lives
        if life.fate is Fate.LOST and life.item.kind is EvidenceKind.FILE
    }
    life = lost["src/part_2.py"]
    assert life.introduced is not None
    assert parent.messages.get(position=life.introduced.position).calls[0][1] == (
        "read_file"
    )
    assert life.lost_in == 1


def test_what_is_read_again_is_told_again() -> None:
    child = compact(store_session(long_work()))
    lose_the_files(child)
    opened_with = child.messages.count()
    read_again(child, 2)

    lives = trace(load_generations(chain_to(child)))

    (life,) = [x for x in lives if x.item.text == "src/part_2.py"]
    assert (life.fate, life.places[1]) == (Fate.AGAIN, opened_with)
