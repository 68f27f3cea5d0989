"""The two stories that article 003 opens with, played to the end over real HTTP.

The model is played by an agent that goes by what it is shown and remembers nothing
itself; the files, the tools, the compactions and the errors are real.
"""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from compaction.models import Run
from compaction.store import load_messages
from compaction.store.task_states import newest_task_version
from tests.server.replies import SUMMARY, Reply, failure, tool_call
from tests.services.turn_fixtures import own_session, play, says

pytestmark = pytest.mark.django_db

NAMES = [f"part_{number}.py" for number in range(9)]
POLICY = {
    "threshold_cap": 50_000,
    "tail_tokens": 20_000,
    "prune_enough": "none",  # always the summary
    "memory_flush": False,
}


@pytest.fixture
def project(tmp_path, settings):
    """Nine files of about 12,500 tokens: four of them are the article's 50,000."""
    for name in NAMES:
        lines = (f"{name} holds value {n * 7919} here" for n in range(1_150))
        (tmp_path / name).write_text("\n".join(lines))
    settings.AGENT_FILES_DIR = str(tmp_path)
    return tmp_path


@pytest.fixture
def session(project, endpoint, settings):
    settings.SUMMARISER_BASE_URL = endpoint.base_url
    settings.SUMMARISER_MODEL = "forgetful"
    return own_session(window=200_000, policy_overrides=POLICY)


def is_summary_request(body):
    return "handoff summaries" in body["messages"][0]["content"]


def asks_for(*calls):
    made = tuple(
        tool_call(name, json.dumps(arguments), f"call_{number}")
        for number, (name, arguments) in enumerate(calls)
    )
    return Reply(tool_calls=made, finish_reason="tool_calls")


def goes_by_its_task_state(body):
    """Read what is open in the TaskState; before there is one, write it down."""
    if is_summary_request(body):
        return Reply(text=SUMMARY)  # says nothing of what is left
    prompt = body["messages"][0]["content"]
    todos = re.findall(r"^\[(.)\] (\S+)$", prompt, re.MULTILINE)
    if not todos:
        items = [{"id": name, "subject": name} for name in NAMES]
        goal = {"goal": "Read every file."}
        return asks_for(("task_set_goal", goal), ("todo_write", {"items": items}))
    left = [name for mark, name in todos if mark == " "]
    if not left:
        return says("All nine are read.")
    done = {"id": left[0], "status": "completed"}
    return asks_for(("read_file", {"path": left[0]}), ("todo_update", done))


def goes_by_its_messages(body):
    """Read what it does not see among its messages."""
    if is_summary_request(body):
        return Reply(text=SUMMARY)
    seen = {
        json.loads(call["function"]["arguments"])["path"]
        for message in body["messages"]
        for call in message.get("tool_calls", ())
    }
    left = [name for name in NAMES if name not in seen]
    return asks_for(("read_file", {"path": left[0]})) if left else says("All nine.")


def files_read(turn):
    calls = [chunk.data for chunk in turn.chunks.filter(kind="call")]
    return Counter(
        json.loads(call["arguments"])["path"]
        for call in calls
        if call["name"] == "read_file"
    )


def test_a_summary_that_forgets_what_is_left_is_no_harm_with_a_task_state(
    session, endpoint
):
    endpoint.always(goes_by_its_task_state)

    turn = play(session, "Read all the files of the folder.")

    assert turn.end == "completed", turn.error
    assert Run.objects.filter(turn=turn, outcome="summarised").count() >= 2
    assert files_read(turn) == Counter(NAMES)
    state = newest_task_version(session.conversation).state
    assert state.open_todos == ()


def test_without_a_task_state_the_same_files_are_read_again_and_again(
    session, endpoint
):
    endpoint.always(goes_by_its_messages)

    turn = play(session, "Read all the files of the folder.")

    assert turn.end != "completed"
    assert max(files_read(turn).values()) > 1


def test_a_rate_limit_after_twenty_minutes_of_work_loses_nothing(
    session, endpoint, waits
):
    """Each round is a minute of work; the 21st call is refused, twice."""
    rounds = [
        asks_for(("search_files", {"text": f"value {n * 7919} "})) for n in range(20)
    ]
    limited = failure(429, message="Rate limit reached", retry_after=30)
    endpoint.play(*rounds, limited, limited, says("Twenty values found."))

    turn = play(session, "Find twenty values.")

    assert turn.end == "completed"
    said = load_messages(session)
    assert len(said) == 1 + 2 * 20 + 1
    assert said[-1].text == "Twenty values found."
    assert turn.calls_made == 20
    assert all(wait >= 30 for wait in waits)
    assert len(waits) == 2
    sent = [request.body["messages"] for request in endpoint.requests]
    assert sent[-1] == sent[-2] == sent[-3]
