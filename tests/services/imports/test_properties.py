"""Whatever a log does between imports: nothing is lost, and the tip is what it says."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings, strategies as st

from compaction.models import Message, Session
from compaction.services.imports.conversations import Change
from compaction.services.imports.matching import digest_of_message
from compaction.store import load_outline
from tests.services.foreign import bring_in, conversation, said, session

pytestmark = pytest.mark.django_db
_numbers = count(1)

# One state of a log: which of three wordings each message has, and what is rewound.
messages = st.lists(
    st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=6
)
histories = st.lists(messages, min_size=1, max_size=5)


def as_messages(state):
    return tuple(
        said(position, f"{position}{wording}", inactive=is_rewound)
        for position, (wording, is_rewound) in enumerate(state)
    )


def texts_of(session_id):
    rows = Message.objects.filter(session_id=session_id).order_by("position")
    return list(rows.values_list("text", flat=True))


@settings(max_examples=40)
@given(histories)
def test_any_history_of_a_log(history):
    name = f"log-{next(_numbers)}"
    said_ever: set[str] = set()
    for state in history:
        talk = as_messages(state)
        source = conversation(session(talk, external_id=name), external_id=name)
        imported = bring_in(source)
        owner = imported.conversation
        stored = Session.objects.filter(conversation=owner)
        said_ever |= {item.message.text for item in talk}

        kept = Message.objects.filter(session__in=stored)
        assert said_ever <= set(kept.values_list("text", flat=True))
        shown = [texts_of(row.pk) for row in stored]
        wanted = [item.message.text for item in talk]
        assert any(texts[: len(wanted)] == wanted for texts in shown)
        if imported.change is not Change.UNCHANGED:
            owner.refresh_from_db()
            assert texts_of(owner.tip_id)[: len(wanted)] == wanted
        assert bring_in(source).change is Change.UNCHANGED
        for row in stored:
            assert row.tokens == load_outline(row).tokens
            assert row.message_count == row.messages.count()


@given(st.text(), st.text())
def test_two_texts_have_one_fingerprint_only_when_they_are_equal(one, other):
    first, second = (digest_of_message(said(0, f"x{t}").message) for t in (one, other))

    assert (first == second) == (one == other)
