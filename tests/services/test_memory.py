"""The memory of a conversation: versioned, told within a budget, never deleted."""

from __future__ import annotations

import pytest

from compaction.engine.memory import HEADING, render_memory
from compaction.engine.tokens import RoughCounter
from compaction.models import Conversation, MemoryItem, OperatorAction, RecoveryEvent
from compaction.services.memory import (
    ITEMS,
    MemoryConflict,
    MemoryEdit,
    MemoryFault,
    MemoryRefused,
    add_memory,
    edit_memory,
)
from compaction.store import fixed_tokens
from compaction.store.memory import memories_in_force, memory_history
from tests.conversations import long_talk, store_session
from tests.server.replies import failure
from tests.services.run_fixtures import preset, run_session
from tests.services.turn_fixtures import calls, own_session, play, says

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation():
    return own_session().conversation


def test_a_memory_is_in_force_once(conversation):
    first = add_memory(conversation, " The port is 8080. ")
    again = add_memory(conversation, "The port is 8080.")

    assert first == again
    assert first.by_agent
    assert [row.text for row in memories_in_force(conversation)] == [
        "The port is 8080."
    ]


def test_an_edit_is_a_version_and_the_old_one_stays(conversation, operator):
    row = add_memory(conversation, "The port is 8080.")
    edit = MemoryEdit(
        item=row.item, base_version=1, text="It is 9090.", operator=operator
    )

    newer = edit_memory(conversation, edit)

    assert (newer.version, newer.author, newer.by_agent) == (2, operator, False)
    texts = [old.text for old in memory_history(conversation, row.item)]
    assert texts == ["It is 9090.", "The port is 8080."]
    action = OperatorAction.objects.get(verb="edit_memory")
    assert (action.before, action.after) == ("The port is 8080.", "It is 9090.")


def test_of_two_editors_the_second_is_told(conversation, operator):
    row = add_memory(conversation, "The port is 8080.")
    mine = MemoryEdit(item=row.item, base_version=1, text="mine", operator=operator)
    theirs = MemoryEdit(item=row.item, base_version=1, text="theirs", operator=operator)
    edit_memory(conversation, theirs)

    refused = edit_memory(conversation, mine)

    assert isinstance(refused, MemoryConflict)
    assert (refused.theirs.text, refused.mine) == ("theirs", "mine")


def test_what_is_removed_can_come_back(conversation, operator):
    row = add_memory(conversation, "The port is 8080.")
    gone = MemoryEdit(
        item=row.item, base_version=1, text=row.text, removed=True, operator=operator
    )
    edit_memory(conversation, gone)
    assert memories_in_force(conversation) == []

    back = MemoryEdit(item=row.item, base_version=2, text=row.text, operator=operator)
    edit_memory(conversation, back)

    assert len(memories_in_force(conversation)) == 1
    assert MemoryItem.objects.count() == 3


@pytest.mark.parametrize(
    ("text", "code"),
    [(" ", MemoryFault.BLANK), ("x" * 2_001, MemoryFault.TOO_LONG)],
)
def test_what_is_no_memory_is_refused(conversation, text, code):
    with pytest.raises(MemoryRefused) as refused:
        add_memory(conversation, text)
    assert refused.value.code is code


def test_there_is_an_end_to_memories(conversation):
    MemoryItem.objects.bulk_create(
        MemoryItem(
            conversation=conversation, item=n, text=f"fact {n}", at="2026-11-01T00:00Z"
        )
        for n in range(ITEMS)
    )
    with pytest.raises(MemoryRefused) as refused:
        add_memory(conversation, "one more")
    assert refused.value.code is MemoryFault.TOO_MANY


def test_the_rendering_keeps_its_budget_and_the_newest():
    texts = [f"fact number {n} " + "word " * 40 for n in range(200)]
    counter = RoughCounter()

    rendered = render_memory(texts, counter, budget=500)

    assert counter.count(rendered) <= 500
    assert rendered.startswith(HEADING)
    assert "fact number 199" in rendered
    assert "left out" in rendered
    assert "fact number 1 " not in rendered


def test_what_the_memory_costs_is_part_of_every_plan(conversation):
    before = fixed_tokens(conversation.tip)
    add_memory(conversation, "The port is 8080.")

    fresh = Conversation.objects.get(pk=conversation.pk)
    assert fresh.memory_tokens > 5
    assert fixed_tokens(fresh.tip) == before + fresh.memory_tokens


def test_the_agent_is_told_its_memory_at_once(endpoint):
    session = own_session()
    endpoint.play(
        calls(("memory_write", '{"text": "The port is 8080."}')), says("Noted.")
    )

    play(session)

    prompts = [r.body["messages"][0]["content"] for r in endpoint.requests]
    assert ["The port is 8080." in prompt for prompt in prompts] == [False, True]


class TestFlush:
    """Before a compaction the agent writes down what it must not forget."""

    @pytest.fixture
    def session(self):
        return own_session(long_talk(turns=20), policy_overrides={}, window=32_000)

    def test_it_writes_its_memory_with_nothing_but_memory_tools(
        self, session, endpoint
    ):
        endpoint.play(
            calls(("memory_write", '{"text": "Row 7 is late."}')), says("done")
        )

        run = run_session(session)

        assert run.outcome == "summarised"
        assert [m.text for m in memories_in_force(session.conversation)] == [
            "Row 7 is late."
        ]
        for request in endpoint.requests:
            names = {tool["function"]["name"] for tool in request.body["tools"]}
            assert names == {"memory_write", "memory_read"}
        assert (
            "What about row 3?" in endpoint.requests[0].body["messages"][1]["content"]
        )

    def test_it_takes_three_calls_at_most(self, session, endpoint):
        endpoint.always(calls(("memory_read", "{}")))

        run_session(session)

        assert len(endpoint.requests) == 3

    @pytest.mark.parametrize("name", ["500", "overflow", "cut", "html"])
    def test_a_failure_is_an_event_and_the_run_goes_on(self, session, endpoint, name):
        endpoint.always(name)

        run = run_session(session)

        assert run.outcome == "summarised"
        event = RecoveryEvent.objects.get(run=run)
        assert (event.kind, event.action) == ("memory_failed", "ignored")
        assert event.reason

    def test_the_tutorial_has_none(self, session, endpoint):
        session.conversation.policy_overrides = {"preset": "tutorial"}
        run_session(
            session, policy=preset("tutorial", threshold_cap=4_000, tail_tokens=1_000)
        )

        assert endpoint.requests == []

    def test_a_copy_of_a_foreign_agent_has_none(self, endpoint):
        session = store_session(
            long_talk(turns=20), imported_from="log.jsonl", window=32_000
        )

        run_session(session)

        assert endpoint.requests == []

    def test_a_failing_endpoint_costs_nothing_else(self, session, endpoint):
        endpoint.play(failure(401, message="Incorrect API key"))

        assert run_session(session).outcome == "summarised"
        assert len(endpoint.requests) == 1
