"""A turn over real HTTP: the task moves on, and all of it is stored as it happens."""

from __future__ import annotations

from decimal import Decimal

import pytest

from compaction import wiring
from compaction.models import Conversation, Endpoint, Message, RecoveryEvent, Turn
from compaction.services.turns.work import perform_turn
from compaction.store import load_messages, load_outline
from compaction.store.task_states import newest_task_version
from tests.conversations import long_talk
from tests.server.replies import Reply, failure
from tests.services.turn_fixtures import (
    ask,
    calls,
    own_session,
    play,
    says,
    use_endpoints,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def session():
    return own_session()


def texts(session):
    return [message.text for message in load_messages(session)]


def test_an_answer_is_stored_with_what_it_cost(session, endpoint):
    endpoint.play(says("Done.", usage={"prompt_tokens": 50, "completion_tokens": 7}))

    turn = play(session, "Hello")

    assert (turn.status, turn.end) == ("completed", "completed")
    assert (turn.iterations, turn.input_tokens, turn.output_tokens) == (1, 50, 7)
    assert texts(session) == ["Hello", "Done."]
    session.refresh_from_db()
    assert session.message_count == 2
    assert session.tokens == load_outline(session).tokens
    assert (session.provider_tokens, session.provider_position) == (50, 1)


def test_what_is_sent_holds_prompt_tools_and_task_state(session, endpoint):
    endpoint.play(
        calls(("task_set_goal", '{"goal": "Tidy."}')), says("The goal is set.")
    )

    play(session)

    first, second = (request.body for request in endpoint.requests)
    assert first["messages"][0]["content"] == "You tidy the Orchard."
    assert "Tidy." in second["messages"][0]["content"]
    assert newest_task_version(session.conversation).state.goal == "Tidy."
    names = [tool["function"]["name"] for tool in first["tools"]]
    assert "todo_write" in names
    assert "read_file" not in names


def test_a_turn_shows_what_happens_in_order(session, endpoint):
    endpoint.play(calls(("memory_read", "{}")), says("Nothing yet, then."))

    turn = play(session)

    kinds = list(turn.chunks.values_list("kind", flat=True))
    assert kinds == ["answer", "call", "result", "text", "answer"]
    assert list(turn.chunks.values_list("number", flat=True)) == [1, 2, 3, 4, 5]
    assert turn.calls_made == 1
    assert turn.calls.get().ended_at is not None


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("fly", "{}", "no tool named 'fly'"),
        ("todo_update", "{broken", "no valid JSON"),
        ("todo_update", "[]", "no JSON object"),
        ("todo_update", '{"id": "1"}', "`status` is missing"),
        ("todo_update", '{"id": 5, "status": "done"}', "`id` must be a string"),
        ("todo_update", '{"id": "9", "status": "completed"}', "no todo with the id 9"),
        ("todo_write", '{"items": ["x"]}', "no object with a subject"),
        ("memory_write", '{"text": " "}', "nothing to remember"),
        ("recall_search", '{"query": "?!"}', "no word to search for"),
        ("recall_read", '{"place": "x"}', "looks like the ones"),
        ("todo_update", "[" * 100_000, "no valid JSON"),
    ],
)
def test_a_call_that_cannot_be_done_tells_the_model_why(
    session, endpoint, name, arguments, said
):
    endpoint.play(calls((name, arguments)), says("I see."))

    turn = play(session)

    assert turn.end == "completed"
    assert said in load_messages(session)[2].text


def test_prices_make_a_cost(session, endpoint, monkeypatch):
    spec = wiring.EndpointSpec(
        name="dear",
        base_url=endpoint.base_url,
        model="m",
        window=128_000,
        input_price=Decimal(2),
        output_price=Decimal(10),
    )
    monkeypatch.setattr(wiring, "turn_endpoints", lambda: (spec,))
    endpoint.play(
        says("Done.", usage={"prompt_tokens": 1000, "completion_tokens": 100})
    )

    assert play(session).cost == Decimal("0.003")


def test_a_second_delivery_finds_nothing_to_do(session, endpoint):
    endpoint.play(says("Done."))
    turn = play(session)

    perform_turn(turn.pk)

    assert len(endpoint.requests) == 1
    assert texts(session) == ["Go on.", "Done."]


def test_without_an_endpoint_a_queued_turn_fails_and_keeps_the_message(
    session, endpoint
):
    turn = ask(session.conversation, "Hello")
    Endpoint.objects.update(enabled=False)

    perform_turn(turn.pk)

    turn.refresh_from_db()
    assert (turn.status, turn.end) == ("failed", "no_endpoint")
    assert texts(session) == ["Hello"]


def test_an_unexpected_fault_fails_the_turn_and_keeps_what_there_is(
    session, endpoint, monkeypatch
):
    def break_(*args):
        raise RuntimeError("token sk-proj-abcdefghijklmnopqrstuvwx is wrong")

    monkeypatch.setattr("compaction.services.turns.work.run_turn", break_)
    turn = play(session, "Hello")

    assert (turn.status, turn.end) == ("failed", "internal_error")
    assert "sk-proj" not in turn.error
    assert texts(session) == ["Hello"]


def test_the_lists_see_the_conversation_as_it_is_after_the_turn(session, endpoint):
    endpoint.play(says("Done.", usage={"prompt_tokens": 900, "completion_tokens": 1}))

    play(session)

    conversation = Conversation.objects.get(pk=session.conversation_id)
    assert conversation.message_count == 2
    assert conversation.tokens_origin == "provider"
    assert conversation.tokens >= 900
    assert conversation.bands["tools"] > 100


class TestRecovery:
    """Every path of recovery, as rows of the Timeline."""

    def events(self, turn):
        rows = RecoveryEvent.objects.filter(turn=turn).order_by("pk")
        return [(e.kind, e.reason, e.action, e.status_code) for e in rows]

    def test_a_rate_limit_waits_as_long_as_it_is_told(self, session, endpoint, waits):
        endpoint.play(
            failure(429, message="Rate limit reached", retry_after=7), says("Done.")
        )

        turn = play(session)

        assert turn.end == "completed"
        assert 7 <= waits[0] <= 12.5
        event = RecoveryEvent.objects.get(turn=turn)
        assert (event.reason, event.action) == ("rate_limit", "retry")
        assert (event.attempt, event.attempts) == (1, 3)
        assert (event.retry_after, event.status_code) == (7, 429)
        assert event.delay == waits[0]
        assert texts(session) == ["Go on.", "Done."]

    @pytest.mark.parametrize(
        "words",
        [
            "This model's maximum context length is 32768 tokens. However, you "
            "requested 40000 tokens.",
            "prompt is too long: 40000 tokens > 32768 maximum",
            "input length and `max_tokens` exceed context limit: 32768",
            "The input token count (40000) exceeds the maximum number of tokens "
            "allowed (32768).",
            "输入长度超过最大上下文长度 32768",
        ],
    )
    def test_an_overflow_in_any_wording_compacts_and_goes_on(self, endpoint, words):
        session = own_session(long_talk(turns=25))
        endpoint.play(failure(400, message=words), says("Done."))

        turn = play(session)

        assert turn.end == "completed"
        run = turn.runs.get()
        assert (run.trigger, run.outcome) == ("context_overflow", "summarised")
        kinds = [kind for kind, *_ in self.events(turn)]
        assert kinds == ["error", "window_lowered"]
        child = run.result_session
        assert Conversation.objects.get(pk=session.conversation_id).tip == child
        assert texts(child)[-2:] == ["Go on.", "Done."]
        assert texts(session)[-1] == "Go on."

    def test_a_request_that_is_too_large_compacts(self, endpoint):
        session = own_session(long_talk(turns=25))
        endpoint.play("413", says("Done."))

        turn = play(session)

        assert turn.end == "completed"
        assert turn.runs.get().trigger == "payload_too_large"

    def test_the_long_context_tier_lowers_the_window(self, endpoint, monkeypatch):
        use_endpoints(monkeypatch, endpoint, window=1_000_000)
        session = own_session(long_talk(turns=60), window=1_000_000)
        words = "Extra usage is required for long context requests."
        endpoint.play(failure(429, message=words), says("Done."))

        turn = play(session)

        assert (turn.end, turn.window) == ("completed", 200_000)
        assert turn.runs.get().trigger == "long_context_tier"

    def test_a_refused_key_goes_to_the_fallback_and_the_next_turn_back(
        self, session, endpoint, second_openai, monkeypatch
    ):
        use_endpoints(monkeypatch, endpoint, second_openai)
        endpoint.play("401", says("Back."))
        second_openai.play(says("From the fallback."))

        first = play(session)
        second = play(session, "And now?")

        assert first.endpoint == "fallback"
        assert self.events(first) == [
            ("error", "auth", "fail_over", 401),
            ("failed_over", "", "", None),
        ]
        assert second.endpoint == "primary"
        assert self.events(second) == [("restored", "", "", None)]
        assert texts(session) == ["Go on.", "From the fallback.", "And now?", "Back."]

    def test_a_limited_primary_is_left_alone_in_the_next_turn(
        self, session, endpoint, second_openai, monkeypatch
    ):
        use_endpoints(monkeypatch, endpoint, second_openai)
        endpoint.play("402")
        second_openai.always(says("From the fallback."))

        play(session)
        second = play(session, "And now?")

        assert second.endpoint == "fallback"
        conversation = Conversation.objects.get(pk=session.conversation_id)
        assert conversation.endpoint_state["on_fallback"]
        assert conversation.endpoint_state["since"] is not None

    def test_an_unknown_model_without_a_fallback_is_refused(self, session, endpoint):
        endpoint.play("404")

        turn = play(session, "Hello")

        assert (turn.status, turn.end) == ("failed", "refused")
        assert (turn.reason, turn.error_status) == ("model_not_found", 404)
        assert texts(session) == ["Hello"]

    def test_server_errors_are_tried_again_and_then_given_up(
        self, session, endpoint, waits
    ):
        endpoint.always("500")

        turn = play(session)

        assert turn.end == "retries_exhausted"
        assert len(endpoint.requests) == 3
        assert len(waits) == 2
        actions = [action for _, _, action, _ in self.events(turn)]
        assert actions == ["retry", "retry", "give_up"]

    @pytest.mark.parametrize("name", ["cut", "cut_clean", "drop", "corrupt"])
    def test_a_stream_that_breaks_is_asked_again(self, session, endpoint, waits, name):
        endpoint.play(name, says("Done."))

        turn = play(session)

        assert turn.end == "completed"
        assert texts(session) == ["Go on.", "Done."]

    def test_a_stall_is_a_timeout(self, session, endpoint, monkeypatch, waits):
        spec = wiring.EndpointSpec(
            name="slow",
            base_url=endpoint.base_url,
            model="m",
            window=128_000,
            timeout=0.5,
        )
        monkeypatch.setattr(wiring, "turn_endpoints", lambda: (spec,))
        endpoint.play("stall", says("Done."))

        turn = play(session)

        assert turn.end == "completed"
        assert self.events(turn)[0][1] == "timeout"

    def test_a_cut_answer_is_continued(self, session, endpoint):
        endpoint.play(says("One,", finish_reason="length"), says("two."))

        turn = play(session)

        assert turn.end == "completed"
        assert texts(session)[1::2] == ["One,", "two."]
        assert self.events(turn)[0][0] == "continued"
        assert Message.objects.filter(session=session, kind="synthetic").count() == 1

    def test_reasoning_alone_ends_the_turn_and_stores_nothing_blank(
        self, session, endpoint
    ):
        endpoint.play(
            Reply(reasoning="Hm.", reasoning_tokens=9, finish_reason="length")
        )

        turn = play(session)

        assert turn.end == "thinking_budget_exhausted"
        assert len(endpoint.requests) == 1
        assert texts(session) == ["Go on."]
        assert turn.iterations == 1

    def test_a_call_that_was_cut_off_never_runs(self, session, endpoint):
        half = calls(("memory_write", '{"text": "hal')).tool_calls
        endpoint.play(Reply(tool_calls=half, finish_reason="length"), says("Done."))

        turn = play(session)

        assert turn.end == "completed"
        assert turn.calls_made == 0

    def test_empty_replies_end_the_turn(self, session, endpoint, waits):
        endpoint.always("blank")

        turn = play(session)

        assert turn.end == "empty_replies"
        assert texts(session) == ["Go on."]


def test_the_last_error_is_forgotten_once_a_turn_went_well(session, endpoint, waits):
    endpoint.always("500")
    play(session)
    conversation = Conversation.objects.get(pk=session.conversation_id)
    assert conversation.last_error == "500 server_error"

    endpoint.always(says("Done."))
    play(session)

    conversation.refresh_from_db()
    assert conversation.last_error == ""


def test_every_turn_has_one_row(session, endpoint):
    endpoint.play(says("Done."))
    play(session)

    assert Turn.objects.count() == 1
