"""Chat: who may send, what is refused and why, and what a turn shows."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from compaction.engine.messages import Message, Role, ToolCall
from compaction.engine.turn import TurnEnd
from compaction.models import Conversation, MemoryItem, OperatorAction, Turn
from compaction.services.memory import add_memory
from tests.web.reading import HTMX, count_queries, text_of
from tests.web.rows import a_session, a_successor, a_talk, assistant, result, user
from tests.web.run_rows import HOSTILE, a_fault, a_run
from tests.web.turn_rows import a_turn, a_working_turn, an_endpoint, show

pytestmark = pytest.mark.django_db


@pytest.fixture
def session():
    return a_session(a_talk(3), source="console", title="Pears")


@pytest.fixture
def endpoint():
    return an_endpoint()


def address(session, rest=""):
    return f"/sessions/{session.pk}/turn/{rest}"


def send(client, session, text="How many pears?", **more):
    return client.post(address(session), {"text": text, "key": "k1", **more})


# sending


def test_a_message_is_stored_and_leads_back_to_the_chat(as_operator, session, endpoint):
    response = send(as_operator, session)

    assert response.status_code == 303
    assert response["Location"] == address(session, "#turn-now")
    turn = Turn.objects.get()
    assert (turn.text, turn.status) == ("How many pears?", "queued")
    assert "How many pears?" in text_of(as_operator.get(address(session)))


def test_a_second_press_of_the_same_form_is_the_same_turn(
    as_operator, session, endpoint
):
    send(as_operator, session)
    again = send(as_operator, session)

    assert again.status_code == 303
    assert Turn.objects.count() == 1


def test_a_script_is_told_where_to_look(as_operator, session, endpoint):
    response = as_operator.post(
        address(session), {"text": "Go"}, headers={"Accept": "application/json"}
    )

    assert response.status_code == 202
    assert (
        response["Location"]
        == response.json()["url"]
        == f"/turns/{Turn.objects.get().pk}/"
    )


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("  ", 422, "The message is empty."),
        ("x" * 200_001, 422, "longer than 200,000 characters"),
    ],
)
def test_a_message_that_cannot_be_sent_stays_in_the_form(
    as_operator, session, text, status, said
):
    response = send(as_operator, session, text)

    assert response.status_code == status
    assert said in text_of(response)
    assert not Turn.objects.exists()


def test_while_the_agent_is_at_work_the_message_is_kept_and_the_turn_linked(
    as_operator, session, endpoint
):
    turn = a_working_turn(session)

    response = send(as_operator, session, "And apples?")

    assert response.status_code == 409
    assert "still at work" in text_of(response)
    assert "And apples?" in response.content.decode()
    assert f'href="/turns/{turn.pk}/"' in response.content.decode()


def test_while_a_run_compacts_the_run_is_linked(as_operator, session, endpoint):
    run = a_run(session)

    response = send(as_operator, session)

    assert response.status_code == 409
    assert f'href="/runs/{run.pk}/"' in response.content.decode()


def test_without_an_endpoint_the_page_says_how_to_get_one(as_operator, session):
    page = as_operator.get(address(session))
    refused = send(as_operator, session)

    for response in (page, refused):
        assert "No endpoint answers turns yet" in text_of(response)
        assert reverse("endpoint-list") in response.content.decode()
    assert refused.status_code == 409


def test_a_copy_is_continued_only_when_somebody_says_so(as_operator, endpoint):
    copy = a_session(a_talk(1), imported_from="state.db")

    assert "Continue this copy here" in text_of(as_operator.get(address(copy)))
    assert send(as_operator, copy).status_code == 409
    assert not Turn.objects.exists()
    assert send(as_operator, copy, continue_copy="yes").status_code == 303
    assert Turn.objects.count() == 1
    assert "You continue a copy" in text_of(as_operator.get(address(copy)))


# roles


@pytest.mark.parametrize("path", ["", "fresh/"])
def test_a_viewer_reads_along_and_sends_nothing(as_viewer, session, endpoint, path):
    page = text_of(as_viewer.get(address(session)))
    refused = as_viewer.post(address(session, path), {"text": "Go"})

    assert "You can read along." in page
    assert refused.status_code == 403
    assert not Turn.objects.exists()


def test_only_an_operator_stops_a_turn(as_viewer, as_operator, session):
    turn = a_working_turn(session)

    assert as_viewer.post(f"/turns/{turn.pk}/cancel/").status_code == 403
    assert as_operator.post(f"/turns/{turn.pk}/cancel/").status_code == 303
    turn.refresh_from_db()
    assert turn.status == "cancelled"


def test_somebody_without_a_role_sees_nothing(as_stranger, session):
    turn = a_turn(session)
    paths = [address(session), f"/turns/{turn.pk}/", f"/turns/{turn.pk}/progress/"]

    assert {as_stranger.get(path).status_code for path in paths} == {404}


def test_an_older_session_points_to_the_one_that_goes_on(
    as_operator, session, endpoint
):
    tip = a_successor(session, a_talk(1))

    page = as_operator.get(address(session, "?exact=1"))

    assert "messages are sent there" in text_of(page)
    assert f'href="{address(tip)}"' in page.content.decode()
    assert 'name="text"' not in page.content.decode()


# what is shown


def test_a_result_is_shown_with_its_tool_and_its_first_words(as_viewer):
    talk = [user("Go"), assistant(call="c1"), result("c1", "# Pears\nripe")]
    shown = text_of(as_viewer.get(address(a_session(talk, source="console"))))

    assert "read_file(path=&quot;a.py&quot;)" in shown
    assert re.search(r"tool read_file .* # Pears\s+ripe 12 characters", shown)


def test_a_call_without_an_id_names_no_other_message(as_viewer):
    call = ToolCall(id="", name="nameless", arguments="{}")
    talk = [
        user("Go"),
        Message(role=Role.ASSISTANT, content=None, tool_calls=(call,)),
        user("Well?"),
    ]
    shown = text_of(as_viewer.get(address(a_session(talk, source="console"))))

    assert shown.count("nameless") == 1


def test_a_secret_in_a_message_is_masked_in_the_chat_as_in_every_list(as_viewer):
    secret = "sk-proj-" + "a1B2c3D4" * 6
    call = ToolCall(id="c1", name="login", arguments=f'{{"api_key": "{secret}"}}')
    talk = [
        user(f"My key is {secret}."),
        Message(role=Role.ASSISTANT, content=None, tool_calls=(call,)),
        result("c1", f"OPENAI_API_KEY={secret}"),
    ]

    assert secret not in text_of(
        as_viewer.get(address(a_session(talk, source="console")))
    )


def test_older_messages_come_a_window_at_a_time(as_viewer):
    session = a_session([user(f"Say {n}.") for n in range(100)], source="console")

    page = as_viewer.get(address(session)).content.decode()
    older = re.search(r'hx-get="([^"]+before=\d+)"', page).group(1)
    fragment = as_viewer.get(older, headers=HTMX).content.decode()

    assert "Say 99." in page
    assert "Say 59." not in page
    assert "Say 59." in fragment
    assert "Say 99." not in fragment
    assert "<html" not in fragment


def test_hostile_words_of_a_model_are_only_words(as_viewer, session):
    turn = a_working_turn(session)
    show(turn, "text", HOSTILE)
    show(turn, "call", id="1", name=HOSTILE, arguments=HOSTILE)
    show(turn, "result", HOSTILE, id="1", chars=len(HOSTILE))
    a_session([assistant(HOSTILE)], session=session)

    for path in (address(session), f"/turns/{turn.pk}/"):
        body = as_viewer.get(path).content.decode()
        assert "&lt;script&gt;alert(1)" in body
        assert "<script>alert(1)" not in body
        assert "\u202e" not in body


def test_a_turn_shows_text_calls_waits_errors_and_runs_in_order(as_viewer, session):
    turn = a_working_turn(session)
    show(turn, "text", "Let me ")
    show(turn, "text", "look.")
    show(turn, "answer", position=3)
    show(turn, "call", id="c1", name="file_read", arguments='{"path": "pears.txt"}')
    show(turn, "result", "seven pears", id="c1", chars=11)
    fault = a_fault(session, turn=turn, action="retry", attempts=4)
    show(turn, "event", event=fault.pk)
    show(turn, "wait", seconds=5, until=fault.at.isoformat())
    run = a_run(session, turn=turn, trigger="in_loop")
    show(turn, "run", run=str(run.pk), trigger="in_loop")

    page = text_of(as_viewer.get(f"/turns/{turn.pk}/"))

    told = [
        "Let me look.",
        "file_read",
        "seven pears",
        "attempt 1 of 4",
        "wait",
        "during a turn",
    ]
    places = [page.index(words) for words in told]
    assert places == sorted(places)
    assert page.count("seven pears") == 2  # its first words, and all of it
    assert "tool result" not in page


@pytest.mark.parametrize(
    "end", [end.value for end in TurnEnd] + ["no_endpoint", "gave_up", "internal_error"]
)
def test_every_end_has_a_sentence_of_its_own(as_viewer, session, end):
    turn = a_turn(session, status="failed", end=end)

    page = text_of(as_viewer.get(f"/turns/{turn.pk}/"))

    assert f"The turn ended: {end}" not in page


def test_a_turn_says_where_a_dead_worker_stopped(as_viewer, session):
    turn = a_turn(
        session,
        status="failed",
        end="gave_up",
        step="tool",
        step_detail="file_read",
        attempt=3,
    )
    turn.calls.create(number=1, name="file_read", begun_at=turn.queued_at)

    page = text_of(as_viewer.get(f"/turns/{turn.pk}/"))

    assert "Where it stopped" in page
    assert "using a tool" in page
    assert "never run a second time" in page


def test_the_number_of_queries_does_not_grow_with_what_happened(as_viewer, session):
    turn = a_turn(session)
    fault = a_fault(session, turn=turn)
    show(turn, "event", event=fault.pk)
    show(turn, "run", run=str(a_run(a_session(), turn=turn).pk), trigger="manual")
    few = count_queries(as_viewer, f"/turns/{turn.pk}/")
    for _ in range(20):
        show(turn, "event", event=a_fault(session, turn=turn).pk)
        show(turn, "run", run=str(a_run(a_session(), turn=turn).pk), trigger="manual")

    assert count_queries(as_viewer, f"/turns/{turn.pk}/") == few


def test_when_the_streamed_parts_are_gone_the_errors_still_stand(as_viewer, session):
    turn = a_turn(session)
    a_fault(session, turn=turn)

    page = text_of(as_viewer.get(f"/turns/{turn.pk}/"))

    assert "kept for some days only" in page
    assert "429 rate limited" in page


# fresh and new


def test_after_stuck_a_fresh_session_carries_the_memory(as_operator, session, endpoint):
    add_memory(session.conversation, "Pears are counted in boxes.")
    a_turn(session, status="failed", end="stuck")
    page = text_of(as_operator.get(address(session)))

    response = as_operator.post(address(session, "fresh/"))

    assert "Start a fresh session" in page
    fresh = Conversation.objects.exclude(pk=session.conversation_id).get()
    assert response["Location"] == f"/sessions/{fresh.tip_id}/turn/"
    assert (
        MemoryItem.objects.get(conversation=fresh).text == "Pears are counted in boxes."
    )


def test_a_conversation_is_begun_with_a_title_and_a_prompt(as_operator, as_viewer):
    sent = {"title": "Orchard", "system_prompt": "You count."}

    assert as_viewer.get("/sessions/new/").status_code == 403
    assert "System prompt" in text_of(as_operator.get("/sessions/new/"))
    response = as_operator.post("/sessions/new/", sent)

    begun = Conversation.objects.get()
    assert (begun.title, begun.tip.system_prompt) == ("Orchard", "You count.")
    assert response["Location"] == f"/sessions/{begun.tip_id}/turn/"
    assert OperatorAction.objects.get().verb == "new_conversation"


def test_a_title_that_is_too_long_is_said_at_its_field(as_operator):
    response = as_operator.post("/sessions/new/", {"title": "x" * 300})

    assert response.status_code == 422
    assert "Nothing was saved" in text_of(response)
    assert not Conversation.objects.exists()
