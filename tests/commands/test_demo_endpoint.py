"""The demo endpoint: a long task with faults, watched without any key."""

from __future__ import annotations

import json
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from compaction import wiring
from compaction.adapters.openai_chat import OpenAIChat
from compaction.engine.llm import ChatRequest
from compaction.engine.messages import join_carried
from compaction.engine.phases.summary_text import wrap_summary
from compaction.engine.task_state import TaskState, Todo, TodoStatus, render
from compaction.management.demo_model.answers import Answer, Refusal
from compaction.management.demo_model.model import DemoModel
from compaction.management.demo_model.serving import DemoServer
from compaction.models import Endpoint, OperatorAction, RecoveryEvent, Run, Session
from compaction.services.endpoint_trials import try_endpoint
from compaction.store.task_states import newest_task_version
from tests.live import Process, start_process, wait_for
from tests.services.turn_fixtures import own_session, play


@pytest.fixture
def demo() -> Iterator[DemoServer]:
    server = DemoServer(DemoModel(wiring.get_counter("gpt-4o").count))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def enter(demo: DemoServer, **values: Any) -> None:
    for position, name in enumerate(("demo", "demo-small")):
        Endpoint.objects.create(
            name=name,
            base_url=demo.base_url,
            model=name,
            window=32_000,
            allow_private=True,
            position=position,
            **values,
        )


@pytest.mark.django_db
class TestTask:
    @pytest.fixture
    def folder(self, tmp_path: Path, settings) -> Path:
        for number in range(1, 6):
            lines = [f"# File {number}", *(f"Row {n} is dry." for n in range(250))]
            (tmp_path / f"part-{number}.md").write_text("\n".join(lines))
        settings.AGENT_FILES_DIR = str(tmp_path)
        return tmp_path

    def test_one_turn_shows_every_fault_and_loses_nothing(self, demo, folder, waits):
        enter(demo)
        session = own_session(window=32_000)

        turn = play(session, "Read every file and report.")

        assert (turn.status, turn.end) == ("completed", "completed")
        events = RecoveryEvent.objects.filter(turn=turn)
        assert {event.reason for event in events if event.reason} == {
            "rate_limit",
            "cut_stream",
            "server_error",
            "context_overflow",
            "auth",
        }
        kinds = {event.kind for event in events}
        assert {"failed_over", "window_lowered", "continued"} <= kinds
        runs = Run.objects.filter(turn=turn, trigger="context_overflow")
        assert [run.outcome for run in runs] == ["summarised"]
        assert max(waits) >= 4  # as the provider asked

    def test_the_task_state_keeps_what_a_compaction_takes_away(
        self, demo, folder, waits
    ):
        enter(demo)
        session = own_session(window=32_000)

        play(session, "Read every file and report.")

        state = newest_task_version(session.conversation).state
        assert state.goal == "Read every file and report."
        subjects = [todo.subject for todo in state.todos]
        assert subjects[:5] == [f"Read part-{number}.md" for number in range(1, 6)]
        assert {todo.status for todo in state.todos} == {TodoStatus.COMPLETED}
        assert Session.objects.filter(conversation=session.conversation).count() > 1

    def test_the_report_that_was_cut_off_is_whole_in_the_end(self, demo, folder, waits):
        enter(demo)
        session = own_session(window=32_000)

        play(session, "Read every file and report.")

        session.conversation.refresh_from_db()
        tip = session.conversation.tip
        said = [m.text for m in tip.messages.filter(role="assistant")]
        whole = " ".join(said[-2:])
        assert whole.count("The task is done:") == 1
        assert "5. Read part-5.md: done." in whole
        assert said[-1].endswith("never compacted.")

    def test_each_answer_says_what_it_cost(self, demo, folder, waits):
        enter(demo, input_price=1, output_price=4)
        session = own_session(window=32_000)

        turn = play(session, "Read every file and report.")

        assert turn.input_tokens > turn.output_tokens > 0
        assert turn.cost > 0

    def test_without_files_it_writes_chapters_until_it_is_too_long(self, demo, waits):
        enter(demo)
        session = own_session(window=32_000)

        turn = play(session, "Write the handbook.")

        assert turn.end == "completed"
        assert Run.objects.filter(turn=turn, outcome="summarised").exists()
        state = newest_task_version(session.conversation).state
        assert not state.open_todos

    def test_a_second_message_is_a_new_task_at_the_primary(self, demo, folder, waits):
        enter(demo)
        session = own_session(window=32_000)
        play(session, "Read every file and report.")
        session.conversation.refresh_from_db()

        turn = play(session.conversation.tip, "And once more.")

        assert turn.end == "completed"
        kinds = RecoveryEvent.objects.filter(turn=turn).values_list("kind", flat=True)
        assert "restored" in kinds
        state = newest_task_version(session.conversation).state
        assert state.goal == "And once more."

    def test_it_writes_summaries_with_the_headings_that_were_asked_for(
        self, demo, folder, waits
    ):
        enter(demo, writes_summaries=True)
        session = own_session(window=32_000)

        turn = play(session, "Read every file and report.")

        run = Run.objects.filter(turn=turn, outcome="summarised").first()
        assert (run.summariser, run.embedded) == ("demo", False)
        summary = run.summaries.get().text
        assert "## Relevant Files\n- part-1.md" in summary
        assert "## Next Steps" in summary

    def test_a_test_of_the_connection_is_answered(self, demo):
        enter(demo)
        spec = wiring.turn_endpoints()[0]

        trial = try_endpoint(spec)

        assert (trial.succeeded, trial.model) == (True, "demo")


def ask(model: DemoModel, /, **body: Any) -> Answer | Refusal:
    return model.answer(body)[0]


class TestModel:
    def tools(self, *names: str) -> list[dict[str, Any]]:
        return [{"type": "function", "function": {"name": name}} for name in names]

    @pytest.fixture
    def model(self) -> DemoModel:
        return DemoModel(lambda text: len(text) // 4)

    def test_equal_requests_get_equal_answers(self, model):
        body = {
            "messages": [{"role": "user", "content": "Tidy up."}],
            "tools": self.tools("task_set_goal", "todo_write", "todo_update"),
        }
        assert ask(model, **body) == ask(model, **body)

    def test_an_update_of_a_summary_keeps_what_was_there(self, model):
        text = (
            "<previous_summary>\n## Goal\n- Tidy.\n### Done\n- Row 1.\n"
            "</previous_summary>\n<transcript>\n[USER]: More.\n\n"
            "[ASSISTANT]: Done: Row 2.\n</transcript>\n"
            "Use exactly these headings:\n\n## Goal\n[hint]\n### Done\n[hint]"
        )

        answer = ask(model, messages=[{"role": "user", "content": text}])

        assert answer.text == "## Goal\n- Tidy.\n\n### Done\n- Row 1.\n- Row 2."

    def test_what_a_summary_left_out_is_added_at_the_second_try(self, model):
        messages = [
            {
                "role": "user",
                "content": "<transcript>\nx\n</transcript>\n"
                "Use exactly these headings:\n\n## Critical Context\n[hint]",
            },
            {"role": "assistant", "content": "## Critical Context\nNone"},
            {"role": "user", "content": "<missing>\n- port 8080\n</missing>"},
        ]

        assert "- port 8080" in ask(model, messages=messages).text

    @pytest.mark.parametrize("shares_a_message", [False, True])
    def test_a_summary_in_the_name_of_the_user_is_no_new_task(
        self, model, shares_a_message
    ):
        state = TaskState(
            goal="Tidy up.",
            todos=(Todo(id="1", subject="Row 1", status=TodoStatus.COMPLETED),),
        )
        summary = wrap_summary("## Goal\n- Tidy up.")
        said = (
            [join_carried("Tidy up.", summary)]
            if shares_a_message
            else ["Tidy up.", summary]
        )
        messages = [
            {"role": "system", "content": f"Help.\n\n{render(state)}"},
            *({"role": "user", "content": text} for text in said),
        ]

        answer = ask(model, messages=messages, tools=self.tools("task_set_goal"))

        assert not answer.calls
        assert "1. Row 1: done." in answer.text

    def test_memory_is_written_once_and_then_it_is_done(self, model):
        tools = self.tools("memory_write", "memory_read")
        opening = [{"role": "user", "content": "<transcript>\nx\n</transcript>"}]
        first = ask(model, messages=opening, tools=tools)
        assert [call.name for call in first.calls] == ["memory_write"]

        after = [
            *opening,
            {"role": "assistant", "tool_calls": [first.calls[0].json]},
            {"role": "tool", "tool_call_id": first.calls[0].id, "content": "Kept."},
        ]
        assert ask(model, messages=after, tools=tools).text == "done"

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"messages": "no list"},
            {"messages": [1, None, {"role": 5}]},
            {"messages": [], "tools": [None, {"function": "x"}]},
            {"messages": [{"role": "user", "content": None}], "model": None},
        ],
    )
    def test_odd_requests_are_answered_all_the_same(self, model, body):
        assert ask(model, **body).text


class TestServer:
    def test_a_plain_answer_is_one_object_with_its_usage(self, demo):
        answer = post(demo, {"model": "demo", "messages": []})

        assert answer["usage"]["prompt_tokens"] > 0
        assert answer["choices"][0]["finish_reason"] == "stop"

    def test_a_streamed_answer_arrives_whole(self, demo):
        model = OpenAIChat(base_url=demo.base_url, model="demo")
        request = ChatRequest(messages=({"role": "user", "content": "Hello"},))

        answer = model.complete(request)

        assert answer.text.startswith("I am the demo model.")
        assert answer.usage.output_tokens > 0

    @pytest.mark.parametrize("payload", [b"", b"no json", b"[]", b"{"])
    def test_what_is_no_request_is_not_found(self, demo, payload):
        assert post_raw(demo, payload).startswith(b"HTTP/1.1 404")


def post(demo: DemoServer, body: dict[str, Any]) -> Any:
    return json.loads(
        post_raw(demo, json.dumps(body).encode()).partition(b"\r\n\r\n")[2]
    )


def post_raw(demo: DemoServer, payload: bytes) -> bytes:
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n"
        f"Content-Length: {len(payload)}\r\n\r\n"
    )
    with socket.create_connection(demo.server_address, timeout=20) as line:
        line.sendall(head.encode() + payload)
        return b"".join(iter(lambda: line.recv(65536), b""))


@pytest.mark.django_db(transaction=True)
class TestCommand:
    @pytest.fixture
    def start(self, tmp_path: Path) -> Iterator[Callable[..., tuple[Process, str]]]:
        """Start the command; gives the process and the base URL it names."""
        started: list[Process] = []

        def start(*arguments: str) -> tuple[Process, str]:
            line = [sys.executable, "manage.py", "demo_endpoint", "--port", "0"]
            log = tmp_path / f"demo-{len(started)}.log"
            process = start_process([*line, *arguments], log)
            started.append(process)
            wait_for(lambda: "Ctrl-C" in process.output(), what="serving")
            url = re.search(r"answers at (\S+)", process.output())
            return process, url.group(1)

        yield start
        for process in started:
            process.stop()

    def test_it_says_where_it_answers_and_stops_at_ctrl_c(self, start):
        process, url = start("--pace", "0")

        answer = OpenAIChat(base_url=url, model="demo").complete(
            ChatRequest(messages=({"role": "user", "content": "Hello"},))
        )
        process.popen.send_signal(signal.SIGINT)

        assert answer.text
        assert process.popen.wait(20) == 0
        assert not Endpoint.objects.exists()

    def test_it_enters_itself_and_the_second_time_brings_it_up_to_date(self, start):
        first, old = start("--register")
        first.stop()
        _second, url = start("--register")

        rows = Endpoint.objects.values_list("name", "base_url", "writes_summaries")
        assert [*rows] == [("demo", url, False), ("demo-small", url, False)]
        assert old != url
        assert [spec.name for spec in wiring.turn_endpoints()] == ["demo", "demo-small"]
        assert wiring.describe_summariser().is_embedded
        verbs = OperatorAction.objects.order_by("pk").values_list("verb", flat=True)
        assert [*verbs] == [*["add_endpoint"] * 2, *["change_endpoint"] * 2]

    def test_it_writes_summaries_only_when_told_to(self, start):
        start("--register", "--summaries")

        assert wiring.describe_summariser().name == "demo"

    def test_a_port_that_is_taken_is_named(self, demo):
        port = demo.server_address[1]
        with pytest.raises(CommandError, match=f"Port {port} cannot be used"):
            call_command("demo_endpoint", "--port", str(port))
