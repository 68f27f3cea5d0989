"""Whatever goes wrong, in whatever order: what is stored is what happened, once."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from compaction import wiring
from compaction.engine.validation import Fault, validate
from compaction.models import Conversation, Message, RecoveryEvent
from compaction.store import load_messages, load_outline
from tests.engine.test_loop import ANSWERS
from tests.engine.worlds import PlayedModel
from tests.services.turn_fixtures import own_session, play

pytestmark = pytest.mark.django_db


@pytest.fixture
def play_script(monkeypatch, waits):
    """Play a turn with these answers of a primary and a fallback."""
    specs = tuple(
        wiring.EndpointSpec(name=name, base_url="http://x", model="m", window=200_000)
        for name in ("primary", "fallback")
    )
    monkeypatch.setattr(wiring, "turn_endpoints", lambda: specs)

    def play_answers(answers, fallback):
        models = {
            "primary": PlayedModel(list(answers)),
            "fallback": PlayedModel(list(fallback)),
        }
        monkeypatch.setattr(wiring, "build_chat", lambda spec: models[spec.name])
        session = own_session(window=200_000)
        return play(session, "Go."), models

    return play_answers


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(ANSWERS, min_size=1, max_size=12),
    st.lists(ANSWERS, min_size=1, max_size=6),
)
def test_what_is_stored_is_what_happened(play_script, answers, fallback):
    turn, models = play_script(answers, fallback)

    assert not turn.is_active
    assert turn.end not in ("", "internal_error")
    tip = Conversation.objects.get(pk=turn.conversation_id).tip
    said = load_messages(tip)
    positions = list(tip.messages.values_list("position", flat=True))
    assert positions == list(range(len(said)))
    assert (tip.message_count, tip.tokens) == (len(said), load_outline(tip).tokens)
    assert sum(m.text == "Go." for m in said) == 1
    assert all(m.has_text or m.tool_calls or m.is_result for m in said)
    assert Fault.ORPHAN_RESULT not in {fault.fault for fault in validate(said)}
    asked = sum(len(model.requests) for model in models.values())
    errors = RecoveryEvent.objects.filter(turn=turn, kind="error")
    failed = errors.exclude(reason="broken_response").count()
    assert asked == turn.iterations + failed
    ran = Message.objects.filter(session__conversation=tip.conversation, role="tool")
    assert turn.calls.count() == ran.filter(origin_position=None).count()
    numbers = list(turn.chunks.values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
