"""The agent's tools: what they answer, within a cap, and never an exception."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from compaction.engine.messages import ToolCall
from compaction.engine.tokens import RoughCounter
from compaction.engine.tools import cap_tokens
from compaction.models import Conversation, Message
from compaction.services.tools.toolbox import RESULT_TOKENS, AgentToolbox
from tests.conversations import long_talk
from tests.services.run_fixtures import run_session
from tests.services.turn_fixtures import own_session

pytestmark = pytest.mark.django_db

COUNTER = RoughCounter()


def box_of(conversation, folder=None):
    return AgentToolbox(conversation, COUNTER, folder=folder)


def run(box, name, **arguments):
    return box.run(ToolCall(id="a", name=name, arguments=json.dumps(arguments)))


@pytest.fixture
def box():
    return box_of(own_session().conversation)


def test_the_task_is_kept_by_three_tools(box):
    run(box, "task_set_goal", goal="Read nine files.")
    run(box, "todo_write", items=[{"id": "1", "subject": "a.py"}, {"subject": "b.py"}])

    text = run(box, "todo_update", id="1", status="completed")

    assert text.splitlines()[-2:] == ["[x] a.py", "[ ] b.py"]


def test_memory_is_written_and_read(box):
    assert run(box, "memory_write", text="Port 8080.") == "Remembered as number 1."
    assert run(box, "memory_read") == "1. Port 8080."


@pytest.fixture
def compacted():
    session = own_session(long_talk(turns=20))
    done = run_session(session)
    return Conversation.objects.get(pk=session.conversation_id), session, done


class TestRecall:
    """Nothing that was cut is out of reach."""

    def test_what_was_compacted_away_is_found_and_read_back(self, compacted):
        conversation, session, _ = compacted
        box = box_of(conversation)

        found = run(box, "recall_search", query='"What about row 5?"')
        place = found.split("]")[0].lstrip("[")
        text = run(box, "recall_read", place=place, count=2)

        assert place == f"{session.pk}:11"
        assert "What about row 5?" in text
        assert "thought5_0" in text

    def test_what_is_still_in_the_window_is_not_found(self, compacted):
        conversation, _, _ = compacted

        found = run(box_of(conversation), "recall_search", query='"about row 19?"')

        assert found == "Nothing that was compacted away holds these words."

    def test_other_conversations_are_out_of_reach(self, compacted, box):
        _, session, _ = compacted

        assert "Nothing" in run(box, "recall_search", query="row")
        assert "no such place" in run(box, "recall_read", place=f"{session.pk}:3")

    def test_the_cap_is_hard(self, compacted):
        conversation, session, _ = compacted

        text = run(
            box_of(conversation), "recall_read", place=f"{session.pk}:0", count=20
        )

        assert COUNTER.count(text) <= RESULT_TOKENS
        assert text.endswith("[cut here: the result was longer]")

    def test_secrets_do_not_come_back(self, box):
        key = "sk-proj-abcdefghijklmnopqrstuvwx1234567890"
        session = own_session(
            [*long_talk(turns=1), *long_talk(turns=1)], window=128_000
        )
        Message.objects.filter(session=session, position=1).update(text=f"key {key}")
        text = run(box_of(session.conversation), "recall_read", place=f"{session.pk}:1")

        assert "key" in text
        assert key not in text


class TestFiles:
    """Read-only tools over a folder that an administrator named."""

    @pytest.fixture
    def project(self, tmp_path):
        (tmp_path / "row.py").write_text("\n".join(f"line {n}" for n in range(1, 101)))
        return tmp_path

    def test_they_are_absent_without_a_folder(self, box, project):
        names = {schema["function"]["name"] for schema in box.schemas}
        assert "read_file" not in names
        assert "no tool named" in run(box, "read_file", path="row.py")
        with_files = box_of(own_session().conversation, project)
        assert len(with_files.schemas) == len(box.schemas) + 3

    def test_a_long_file_is_read_in_parts(self, project):
        (project / "long.txt").write_text("\n".join(f"row {n}" for n in range(9_000)))
        box = box_of(own_session(window=8_000).conversation, project)

        first = run(box, "read_file", path="long.txt")
        line = int(first.rsplit("line ", 1)[1].rstrip("]"))
        second = run(box, "read_file", path="long.txt", line=line)

        assert COUNTER.count(first) <= 2_000
        assert f"row {line - 2}\n[lines 1 to {line - 1} of 9000" in first
        assert second.startswith(f"row {line - 1}\n")

    def test_they_list_and_search(self, project):
        box = box_of(own_session().conversation, project)

        assert run(box, "list_files") == "row.py  791 B"
        assert run(box, "search_files", text="LINE 77") == "row.py:77: line 77"
        assert "may not lead out" in run(box, "read_file", path="../x")
        assert "100 lines" in run(box, "read_file", path="row.py", line=500)

    def test_secrets_in_a_file_go_to_no_provider(self, project):
        key = "sk-proj-abcdefghijklmnopqrstuvwx1234567890"
        (project / ".env").write_text(f"OPENAI_API_KEY={key}\n")
        box = box_of(own_session().conversation, project)

        assert key not in run(box, "read_file", path=".env")
        assert key not in run(box, "search_files", text="OPENAI")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner)
    ),
    max_leaves=6,
)
FIELDS = ("items", "goal", "id", "status", "text", "query", "place")
ARGUMENTS = st.one_of(
    st.text(max_size=30),
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(
            ("items", "goal", "id", "status", "text", "query", "place"), JSON
        ),
    ).map(json.dumps),
)


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_nothing_that_a_model_sends_raises(box, data):
    names = [schema["function"]["name"] for schema in box.schemas]
    name = data.draw(st.sampled_from([*names, "", "\x00", "rm"]))
    text = box.run(ToolCall(id="a", name=name, arguments=data.draw(ARGUMENTS)))
    assert isinstance(text, str)
    assert text


def test_a_tool_that_breaks_says_so_to_the_model(box, monkeypatch):
    def break_(*args, **given):
        raise RuntimeError("ours")

    monkeypatch.setattr(
        "compaction.services.tools.memory_tools.memories_in_force", break_
    )

    assert "not yours" in run(box, "memory_read")


@given(st.text(max_size=2_000), st.integers(30, 300))
def test_a_cap_is_never_passed(text, limit):
    assert COUNTER.count(cap_tokens(text, limit, COUNTER)) <= limit
