"""The Compact page: plan, prompt, and the press that starts a run."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from compaction.models import Cooldown, Message, Run
from compaction.store import NewMessage, write_messages
from tests.web.rows import a_session, a_successor, a_talk, user
from tests.web.test_context import HOSTILE, SMALL

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch):
    """Runs stay queued: what a worker does with them is another test's matter."""
    monkeypatch.setattr("compaction.tasks.wake", lambda task, pk: None)


@pytest.fixture
def session():
    return a_session(a_talk(40), **SMALL)


def address(session, query=""):
    return f"/sessions/{session.pk}/compact/{query}"


def press(client, session, values=None, **headers):
    return client.post(address(session), values or {}, headers=headers)


def shown_plan(client, session, query=""):
    """What the form of the page would send."""
    context = client.get(address(session, query)).context
    seen = {f"seen_{name}": size for name, size in context["seen"].items()}
    return {
        **{k: "" if v is None else v for k, v in context["values"].items()},
        **seen,
        "plan": context["plan"].digest,
        "revision": session.revision,
    }


def a_cooldown(session):
    now = timezone.now()
    return Cooldown.objects.create(
        conversation=session.conversation,
        started_at=now,
        until=now + timedelta(minutes=5),
        seconds=300,
        reason="rate_limit",
    )


# --- the plan ----------------------------------------------------------------
def test_the_untouched_form_shows_the_plan_of_the_policy_in_force(as_viewer, session):
    plain = as_viewer.get(address(session)).context["plan"]
    spelt_out = as_viewer.get(address(session, "?tail_budget=800&first=3"))

    assert spelt_out.context["plan"].digest == plain.digest
    assert plain.verdict == "summarise"


def test_another_tail_gives_another_plan_at_once(as_viewer, session):
    small = as_viewer.get(address(session, "?tail_budget=500")).context["plan"]
    large = as_viewer.get(address(session, "?tail_budget=3000")).context["plan"]

    assert small.sizes.tail < large.sizes.tail
    assert small.digest != large.digest


def test_htmx_gets_the_plan_alone(as_viewer, session):
    response = as_viewer.get(
        address(session, "?tail_budget=900"), headers={"HX-Request": "true"}
    )

    page = response.content.decode()
    assert page.lstrip().startswith('<div id="plan"')
    assert "<html" not in page


def test_a_wrong_value_is_named_and_the_policy_in_force_planned(as_viewer, session):
    plain = as_viewer.get(address(session)).context["plan"]

    response = as_viewer.get(address(session, "?summary_max=201&first=-4"))

    assert response.context["plan"].digest == plain.digest
    assert "first" in response.context["form"].errors
    assert "cannot be used" in response.content.decode()


def test_a_value_that_the_policy_refuses_is_named_beside_its_field(as_viewer, session):
    response = as_viewer.get(address(session, "?summary_max=1000"))

    assert "summary_max" in response.context["form"].errors


@pytest.mark.parametrize("value", ["", "x", "1e9", "99999999999999999999", "\x00"])
def test_nonsense_in_the_address_is_an_error_of_the_form(as_viewer, session, value):
    response = as_viewer.get(address(session), {"tail_budget": value})

    assert response.status_code == 200
    assert response.context["form"].errors


def digest_of_database():
    """A hash over every row of every table of ours."""
    tables = [
        name
        for name in connection.introspection.table_names()
        if name.startswith(("compaction_", "auth_user", "django_session"))
        and not name.startswith("compaction_search")  # FTS5: not to be scanned
    ]
    parts = hashlib.sha256()
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f'SELECT * FROM "{table}"')
            parts.update(repr((table, sorted(map(repr, cursor.fetchall())))).encode())
    return parts.hexdigest()


def test_looking_at_plans_and_prompts_writes_nothing(as_operator, session):
    as_operator.get("/sessions/")
    before = digest_of_database()

    as_operator.get(address(session))
    as_operator.get(address(session, "?tail_budget=700&focus=files"))
    as_operator.get(f"{address(session)}prompt/")
    as_operator.get(f"/sessions/{session.pk}/")

    assert digest_of_database() == before


@pytest.mark.django_db(transaction=True)
def test_previews_leave_the_bytes_of_the_database_as_they_are(as_operator):
    if connection.vendor != "sqlite":
        pytest.skip("bytes of the file: SQLite only; rows are compared above")
    session = a_session(a_talk(40), **SMALL)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file = Path(str(connection.settings_dict["NAME"]))
    before = hashlib.sha256(file.read_bytes()).hexdigest()

    as_operator.get(address(session))
    as_operator.get(address(session, "?tail_budget=700"))
    as_operator.get(f"{address(session)}prompt/")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    assert hashlib.sha256(file.read_bytes()).hexdigest() == before


# --- the prompt --------------------------------------------------------------
def test_the_prompt_is_the_one_a_run_would_send(as_viewer, session):
    from compaction.engine.compactor import write_prompt
    from compaction.store import load_messages

    response = as_viewer.get(f"{address(session)}prompt/?focus=the+parser")

    plan = response.context["plan"]
    expected = write_prompt(plan, load_messages(session))
    assert response.context["prompt"] == expected
    assert "the parser" in response.content.decode()


def test_the_whole_prompt_can_be_downloaded(as_viewer, session):
    shown = as_viewer.get(f"{address(session)}prompt/").context["requests"]

    response = as_viewer.get(f"{address(session)}prompt/?as=text")

    assert response["Content-Disposition"].startswith("attachment")
    assert response["Content-Type"].startswith("text/plain")
    assert shown[0][1]["content"] in response.content.decode()


def test_secrets_never_reach_the_prompt_page(as_viewer):
    key = "sk-proj-" + "a1B2c3D4e5" * 5
    talk = a_talk(20)
    session = a_session([*talk[:30], user(f"my key is {key}"), *talk[30:]], **SMALL)

    page = as_viewer.get(f"{address(session)}prompt/").content.decode()

    assert "my key is" in page
    assert key not in page


def test_hostile_text_in_the_prompt_is_text(as_viewer):
    talk = a_talk(20)
    session = a_session([*talk[:30], user(HOSTILE), *talk[30:]], **SMALL)

    page = as_viewer.get(f"{address(session)}prompt/").content.decode()

    assert "<script>alert" not in page


# --- the press ---------------------------------------------------------------
def test_a_browser_is_led_to_the_run(as_operator, session):
    response = press(as_operator, session)

    run = Run.objects.get()
    assert response.status_code == 303
    assert response["Location"] == f"/runs/{run.pk}/"
    assert run.session_id == session.pk
    assert run.requested_by.username == "olaf"


def test_a_script_is_told_202_and_where_to_look(as_operator, session):
    response = press(as_operator, session, Accept="application/json")

    run = Run.objects.get()
    assert response.status_code == 202
    assert response.json() == {
        "run": str(run.pk),
        "created": True,
        "status": "queued",
        "url": f"/runs/{run.pk}/",
    }


def test_htmx_gets_the_progress(as_operator, session):
    response = press(as_operator, session, **{"HX-Request": "true"})

    assert response.status_code == 202
    assert 'id="run-progress"' in response.content.decode()


def test_two_presses_make_one_run(as_operator, session):
    first = press(as_operator, session, Accept="application/json").json()
    second = press(as_operator, session, Accept="application/json").json()

    assert Run.objects.count() == 1
    assert second["run"] == first["run"]
    assert (first["created"], second["created"]) == (True, False)


def test_the_values_that_were_shown_are_those_of_the_run(as_operator, session):
    plan = shown_plan(as_operator, session, "?tail_budget=900&focus=parser")

    press(as_operator, session, plan)

    run = Run.objects.get()
    assert run.plan_hash == plan["plan"]
    assert run.policy["tail_tokens"] == 900
    assert run.focus == "parser"


def test_a_viewer_may_not_press(as_viewer, session):
    assert press(as_viewer, session).status_code == 403
    assert not Run.objects.exists()


def test_a_stranger_finds_nothing_to_press(as_stranger, session):
    assert press(as_stranger, session).status_code == 404


def test_somebody_not_signed_in_starts_nothing(client, session):
    assert press(client, session).status_code == 302
    assert press(client, session, Accept="application/json").status_code == 401
    assert not Run.objects.exists()


def test_a_press_without_the_form_of_the_page_is_refused(operator, session):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(operator)

    assert strict.post(address(session)).status_code == 403
    assert not Run.objects.exists()


def test_a_plan_that_is_no_longer_true_is_refused_with_what_changed(
    as_operator, session
):
    from compaction.engine.tokens import RoughCounter

    plan = shown_plan(as_operator, session)
    write_messages(
        session, [NewMessage(message=user("one more"))], counter=RoughCounter()
    )

    response = press(as_operator, session, plan)

    page = response.content.decode()
    assert response.status_code == 409
    assert "Something changed since the plan was made" in page
    assert "161 → 162" in page
    assert not Run.objects.exists()


def test_a_plan_somebody_made_up_is_refused(as_operator, session):
    response = press(
        as_operator, session, {"plan": "0" * 64, "revision": session.revision}
    )

    assert response.status_code == 409


def test_a_script_is_told_that_its_plan_is_stale(as_operator, session):
    response = press(
        as_operator, session, {"revision": "77"}, Accept="application/json"
    )

    assert response.status_code == 409
    assert response.json()["refusal"] == "stale_plan"


def test_in_a_cooldown_nothing_starts_and_the_end_is_said(as_operator, session):
    cooldown = a_cooldown(session)

    response = press(as_operator, session)
    told = press(as_operator, session, Accept="application/json")

    page = response.content.decode()
    assert response.status_code == told.status_code == 409
    assert "in a cooldown; no run was started" in page
    assert f'data-countdown="{int(cooldown.until.timestamp())}"' in page
    assert "Compact all the same" in page
    assert told.json()["until"] == cooldown.until.isoformat()
    assert not Run.objects.exists()


def test_an_operator_may_go_through_a_cooldown_by_a_second_step(as_operator, session):
    a_cooldown(session)

    response = press(as_operator, session, {"forced": "1"})

    run = Run.objects.get()
    assert response.status_code == 303
    assert run.forced


def test_the_second_step_takes_the_chosen_values_along(as_operator, session):
    a_cooldown(session)
    plan = shown_plan(as_operator, session, "?tail_budget=900")

    page = press(as_operator, session, plan).content.decode()

    assert '<input type="hidden" name="tail_budget" value="900">' in page


def test_an_older_session_is_not_compacted_again(as_operator, session):
    tip = a_successor(session, a_talk(2))

    response = press(as_operator, session)

    assert response.status_code == 409
    assert f'href="/sessions/{tip.pk}/"' in response.content.decode()
    assert not Run.objects.exists()


def test_wrong_values_start_nothing(as_operator, session):
    response = press(as_operator, session, {"tail_budget": "many"})

    assert response.status_code == 422
    assert not Run.objects.exists()


def test_on_a_copy_the_page_says_that_the_agent_is_not_touched(as_operator):
    session = a_session(a_talk(40), imported_from="state.db", **SMALL)

    page = as_operator.get(address(session)).content.decode()

    assert "compacts the copy in this console" in page


def test_while_a_run_is_on_its_way_there_is_no_second_button(as_operator, session):
    press(as_operator, session)

    page = as_operator.get(address(session)).content.decode()

    assert "Compact with these values" not in page
    assert "on its way already" in page


def test_a_press_loses_no_message(as_operator, session):
    before = Message.objects.filter(session=session).count()

    press(as_operator, session)

    assert Message.objects.filter(session=session).count() == before
