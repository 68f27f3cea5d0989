"""The Endpoints page: read by all, kept by admins, tested with a real request."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from compaction.models import Endpoint, OperatorAction
from tests.server.replies import Reply, broken, failure
from tests.web.reading import text_of
from tests.web.run_rows import HOSTILE

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def an_endpoint(**values: Any) -> Endpoint:
    given = {"name": "main", "base_url": "https://192.0.2.1/v1", "model": "big-1"}
    return Endpoint.objects.create(**{**given, **values})


def fill(**values: Any) -> dict[str, Any]:
    given = {
        "name": "main",
        "base_url": "https://8.8.8.8/v1",
        "model": "big-1",
        "window": "128000",
        "timeout": "300",
        "answers_turns": "on",
        "enabled": "on",
    }
    return {**given, **values}


def fields_of(endpoint: Endpoint, **values: Any) -> dict[str, Any]:
    return fill(name=endpoint.name, base_version=endpoint.version, **values)


class TestList:
    def test_without_any_it_says_what_that_means_and_how_to_get_one(self, as_admin):
        page = text_of(as_admin.get("/endpoints/"))

        assert "Turns need an endpoint; none is set up." in page
        assert "OPENAI_API_KEY=… make run" in page
        assert "demo_endpoint --register" in page
        assert "written by the embedded rules" in page

    def test_it_says_who_is_primary_who_follows_and_who_writes(self, as_viewer):
        an_endpoint(name="second", position=2, writes_summaries=True)
        an_endpoint(name="first", position=1)
        an_endpoint(name="off", position=0, enabled=False)

        response = as_viewer.get("/endpoints/")

        page = text_of(response)
        assert "Turns are answered by first (big-1)." in page
        assert "the next in order is asked: second ." in page
        assert "Summaries are written by second (big-1)." in page
        cards = response.context["endpoints"].cards
        assert [(c.spec.name, [*c.tasks]) for c in cards] == [
            ("off", ["none"]),
            ("first", ["primary"]),
            ("second", ["fallback", "summaries"]),
        ]

    def test_a_second_writer_of_summaries_waits(self, as_viewer):
        an_endpoint(name="one", position=1, writes_summaries=True)
        an_endpoint(name="two", position=2, writes_summaries=True)

        assert "summaries: another one is asked" in text_of(
            as_viewer.get("/endpoints/")
        )

    def test_it_says_whether_a_key_is_there_and_never_shows_it(
        self, as_admin, monkeypatch
    ):
        monkeypatch.setenv("ONE_API_KEY", "sk-the-secret-itself")
        an_endpoint(name="one", key_env="ONE_API_KEY")
        an_endpoint(name="two", key_env="TWO_API_KEY")

        response = as_admin.get("/endpoints/")

        page = text_of(response)
        assert "ONE_API_KEY set" in page
        assert "TWO_API_KEY not set in this process" in page
        assert b"sk-the-secret-itself" not in response.content

    def test_the_environment_is_shown_read_only(self, as_admin, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-only-for-this-test")

        page = text_of(as_admin.get("/endpoints/"))

        assert "Turns are answered by environment (gpt-4o)." in page
        assert "read only here" in page
        assert as_admin.get("/endpoints/environment/").status_code == 404

    def test_an_endpoint_of_the_page_goes_before_the_environment(
        self, as_viewer, settings
    ):
        settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
        an_endpoint()

        page = text_of(as_viewer.get("/endpoints/"))

        assert "Turns are answered by main (big-1)." in page
        assert "turns: those of the page are asked" in page

    def test_unencrypted_ways_are_named(self, as_viewer):
        an_endpoint(base_url="http://192.0.2.1/v1")
        assert "not encrypted on its way" in text_of(as_viewer.get("/endpoints/"))

    def test_this_machine_needs_no_encryption(self, as_viewer):
        an_endpoint(base_url="http://127.0.0.1:9/v1", allow_private=True)
        assert "not encrypted" not in text_of(as_viewer.get("/endpoints/"))

    def test_what_an_endpoint_said_is_escaped(self, as_viewer):
        trial = {"at": "2026-01-01T00:00:00+00:00", "latency": 1.0, "kind": "status"}
        an_endpoint(model=HOSTILE[:128], trial={**trial, "message": HOSTILE})

        response = as_viewer.get("/endpoints/")

        assert HOSTILE.encode() not in response.content
        assert b"<script>alert" not in response.content

    def test_only_an_admin_sees_what_he_may_do(self, as_operator, as_admin):
        an_endpoint()
        acts = ("New endpoint", "Test connection", "Disable", "Edit")

        page = text_of(as_operator.get("/endpoints/"))
        assert not [act for act in acts if act in page]
        page = text_of(as_admin.get("/endpoints/"))
        assert [act for act in acts if act in page] == [*acts]

    def test_a_stranger_finds_nothing(self, as_stranger):
        assert as_stranger.get("/endpoints/").status_code == 404

    def test_the_fragment_is_the_part_of_the_page(self, as_viewer):
        an_endpoint()
        fragment = as_viewer.get("/endpoints/", headers=HTMX).content.decode()

        assert fragment.lstrip().startswith('<div id="endpoint-list"')
        assert "<html" not in fragment


class TestForbidden:
    @pytest.mark.parametrize(
        "path", ["new/", "main/", "main/delete/", "main/move/", "main/test/"]
    )
    def test_an_operator_may_change_nothing(self, as_operator, path):
        an_endpoint()

        answer = as_operator.post(f"/endpoints/{path}", fill(name="other"))

        assert answer.status_code == 403
        assert [e.name for e in Endpoint.objects.all()] == ["main"]

    @pytest.mark.parametrize("act", ["enable", "disable"])
    def test_an_operator_may_not_switch(self, as_operator, act):
        an_endpoint(enabled=act == "disable")
        assert as_operator.post(f"/endpoints/main/{act}/").status_code == 403
        assert Endpoint.objects.get().enabled is (act == "disable")


class TestAdd:
    def test_a_new_endpoint_comes_last_and_leaves_an_entry_in_the_audit(
        self, as_admin, admin
    ):
        an_endpoint(name="first", position=4)

        answer = as_admin.post(
            "/endpoints/new/",
            fill(
                name="second",
                key_env="SECOND_API_KEY",
                input_price="0.15",
                output_price="0.6",
            ),
        )

        assert answer.status_code == 303
        made = Endpoint.objects.get(name="second")
        assert made.position == 5
        action = OperatorAction.objects.get()
        assert (action.verb, action.target) == ("add_endpoint", "endpoint:second")
        assert action.after["key_env"] == "SECOND_API_KEY"
        assert action.after["prices"] == ["0.15", "0.6"]

    @pytest.mark.parametrize(
        ("wrong", "sentence"),
        [
            ({"name": "Not A Slug"}, "Small letters, digits and hyphens"),
            ({"name": "new"}, "kept for the console itself"),
            ({"name": "environment"}, "kept for the console itself"),
            ({"base_url": "ftp://models.example"}, "Must begin with https://"),
            ({"base_url": "https://me:pw@models.example"}, "no user name and no"),
            ({"base_url": "http://127.0.0.1:8000/v1"}, "Permit it below"),
            ({"base_url": "http://localhost:8000/v1"}, "Permit it below"),
            ({"base_url": "http://2130706433/v1"}, "in the usual form"),
            ({"base_url": "http://169.254.169.254/v1"}, "cannot be permitted"),
            ({"key_env": "sk-proj-1234567890"}, "Capital letters"),
            ({"key_env": "SECRET_KEY"}, "Must end in _API_KEY"),
            ({"key_env": "DATABASE_URL"}, "Must end in _API_KEY"),
            ({"input_price": "1"}, "Enter both prices or none"),
            ({"window": "5"}, "greater than or equal to 1000"),
            ({"timeout": "nan"}, "Enter a number"),
            ({"model": ""}, "This field is required"),
        ],
    )
    def test_what_cannot_work_is_refused_beside_its_field(
        self, as_admin, wrong, sentence
    ):
        answer = as_admin.post("/endpoints/new/", fill(**wrong))

        assert answer.status_code == 422
        assert sentence in text_of(answer)
        assert "Nothing was saved." in text_of(answer)
        assert not Endpoint.objects.exists()
        assert not OperatorAction.objects.exists()

    def test_a_name_that_leads_into_the_own_network_is_refused(
        self, as_admin, monkeypatch
    ):
        def getaddrinfo(host, port, *args, **kwargs):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", port))]

        monkeypatch.setattr(
            "compaction.adapters.name_lookup.socket.getaddrinfo", getaddrinfo
        )
        answer = as_admin.post(
            "/endpoints/new/", fill(base_url="https://models.example/v1")
        )

        assert answer.status_code == 422
        assert not Endpoint.objects.exists()

    def test_an_admin_may_permit_the_own_network(self, as_admin):
        own = fill(base_url="http://127.0.0.1:8000/v1", allow_private="on")

        assert as_admin.post("/endpoints/new/", own).status_code == 303
        assert Endpoint.objects.get().allow_private
        assert OperatorAction.objects.get().after["allow_private"] is True

    def test_a_variable_that_the_starter_names_may_hold_a_key(self, as_admin, settings):
        settings.ENDPOINT_KEY_VARIABLES = ["HF_TOKEN"]

        assert (
            as_admin.post("/endpoints/new/", fill(key_env="HF_TOKEN")).status_code
            == 303
        )

    def test_two_endpoints_cannot_share_a_name(self, as_admin):
        an_endpoint(name="main")

        answer = as_admin.post("/endpoints/new/", fill(name="main"))

        assert answer.status_code == 422
        assert "an endpoint of this name already" in text_of(answer)
        assert Endpoint.objects.count() == 1


class TestChange:
    def test_the_form_shows_what_stands(self, as_admin):
        an_endpoint(input_price="2.50", output_price="10", timeout=60)

        page = as_admin.get("/endpoints/main/").content.decode()

        for value in ("https://192.0.2.1/v1", "big-1", '"2.5"', '"10"', '"60"'):
            assert value in page

    def test_a_change_is_kept_with_before_and_after(self, as_admin):
        endpoint = an_endpoint()

        answer = as_admin.post("/endpoints/main/", fields_of(endpoint, model="big-2"))

        assert answer.status_code == 303
        action = OperatorAction.objects.get(verb="change_endpoint")
        assert (action.before["model"], action.after["model"]) == ("big-1", "big-2")

    def test_another_base_url_forgets_the_test_of_the_old_one(self, as_admin):
        trial = {"at": "2026-01-01T00:00:00+00:00", "latency": 0.1, "model": "big-1"}
        endpoint = an_endpoint(base_url="https://8.8.8.8/v1", trial=trial)
        as_admin.post("/endpoints/main/", fields_of(endpoint, window="64000"))
        endpoint.refresh_from_db()
        assert endpoint.trial == trial

        changed = fields_of(endpoint, base_url="https://8.8.4.4/v1")
        as_admin.post("/endpoints/main/", changed)

        endpoint.refresh_from_db()
        assert endpoint.trial == {}

    def test_who_saves_second_sees_theirs_and_may_then_replace_it(self, as_admin):
        endpoint = an_endpoint()
        mine = fields_of(endpoint, model="mine")
        Endpoint.objects.update(version=2, model="theirs")

        answer = as_admin.post("/endpoints/main/", mine)

        assert answer.status_code == 409
        assert "changed while you edited it" in text_of(answer)
        assert "theirs at https://192.0.2.1/v1" in text_of(answer)
        assert Endpoint.objects.get().model == "theirs"
        again = {**mine, "base_version": "2"}
        assert as_admin.post("/endpoints/main/", again).status_code == 303
        assert Endpoint.objects.get().model == "mine"

    def test_an_address_of_nothing_is_not_found(self, as_admin):
        assert as_admin.get("/endpoints/nothing/").status_code == 404


class TestOrder:
    def names(self) -> list[str]:
        return [endpoint.name for endpoint in Endpoint.objects.all()]

    @pytest.mark.parametrize(
        ("name", "direction", "order"),
        [
            ("b", "up", ["b", "a", "c"]),
            ("b", "down", ["a", "c", "b"]),
            ("c", "first", ["c", "a", "b"]),
            ("a", "up", ["a", "b", "c"]),
            ("c", "down", ["a", "b", "c"]),
        ],
    )
    def test_an_endpoint_is_moved_by_one_form(self, as_admin, name, direction, order):
        for letter in "abc":  # all in one place: the order is still clear
            an_endpoint(name=letter, position=0)

        answer = as_admin.post(f"/endpoints/{name}/move/", {"direction": direction})

        assert answer.status_code == 303
        assert self.names() == order
        moved = OperatorAction.objects.filter(verb="move_endpoint").count()
        assert moved == (order != ["a", "b", "c"])

    def test_an_unknown_direction_is_not_found(self, as_admin):
        an_endpoint()
        answer = as_admin.post("/endpoints/main/move/", {"direction": "sideways"})
        assert answer.status_code == 404

    def test_a_disabled_endpoint_is_asked_no_more_and_can_come_back(self, as_admin):
        an_endpoint()

        as_admin.post("/endpoints/main/disable/")
        assert "none is set up" in text_of(as_admin.get("/endpoints/"))
        as_admin.post("/endpoints/main/enable/")

        assert "answered by main" in text_of(as_admin.get("/endpoints/"))
        verbs = OperatorAction.objects.order_by("pk").values_list("verb", flat=True)
        assert [*verbs] == ["disable_endpoint", "enable_endpoint"]

    def test_deleting_asks_first_and_keeps_what_it_was(self, as_admin):
        an_endpoint()

        assert "Delete the endpoint" in text_of(as_admin.get("/endpoints/main/delete/"))
        assert Endpoint.objects.exists()
        assert as_admin.post("/endpoints/main/delete/").status_code == 303

        assert not Endpoint.objects.exists()
        action = OperatorAction.objects.get(verb="delete_endpoint")
        assert action.before["base_url"] == "https://192.0.2.1/v1"


class TestConnection:
    @pytest.fixture
    def served(self, scripted_openai) -> Endpoint:
        url = scripted_openai.base_url
        return an_endpoint(base_url=url, allow_private=True, key_env="MAIN_API_KEY")

    def test_a_real_request_shows_latency_and_model(
        self, as_admin, served, scripted_openai, monkeypatch
    ):
        monkeypatch.setenv("MAIN_API_KEY", "sk-the-key")
        scripted_openai.play(Reply(text="OK", model="big-1-2026"))

        page = text_of(as_admin.post("/endpoints/main/test/"))

        assert "as big-1-2026." in page
        (request,) = scripted_openai.requests
        assert request.headers["authorization"] == "Bearer sk-the-key"
        assert request.body["max_tokens"] <= 16
        assert "as big-1-2026." in text_of(as_admin.get("/endpoints/"))  # kept

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (
                failure(401, message="Incorrect API key"),
                ("refuses the key", "variable"),
            ),
            (failure(402, message="Insufficient credits"), ("no credit", "credit")),
            (failure(404, message="model not found"), ("the model", "provider’s list")),
            (failure(429, retry_after=2), ("limits requests", "endpoint works")),
            (failure(500), ("failed itself", "Try again")),
        ],
    )
    def test_each_failure_says_what_happened_and_what_to_do(
        self, as_admin, served, scripted_openai, answer, words
    ):
        scripted_openai.play(answer)

        response = as_admin.post("/endpoints/main/test/")

        page = text_of(response)
        assert response.status_code == 200
        assert [word for word in words if word not in page] == []
        assert f"status {answer.status}" in page
        assert len(scripted_openai.requests) == 1  # a test never retries

    @pytest.mark.parametrize(
        ("how", "title"),
        [
            ("html", "no chat endpoint"),
            ("drop", "cannot be reached"),
            ("cut", "broke off"),
        ],
    )
    def test_what_breaks_on_the_way_is_told_apart(
        self, as_admin, served, scripted_openai, how, title
    ):
        scripted_openai.play(broken(how))
        assert title in text_of(as_admin.post("/endpoints/main/test/"))

    def test_a_silent_server_is_left_after_a_short_time(
        self, as_admin, served, scripted_openai, monkeypatch
    ):
        monkeypatch.setattr("compaction.services.endpoint_trials.TRIAL_SECONDS", 0.2)
        scripted_openai.play(broken("stall"))

        page = text_of(as_admin.post("/endpoints/main/test/"))

        assert "did not answer in time" in page

    def test_the_key_stands_in_no_answer(
        self, as_admin, served, scripted_openai, monkeypatch
    ):
        monkeypatch.setenv("MAIN_API_KEY", "sk-proj-leaked-by-the-provider-1")
        told = failure(401, message="Bad key sk-proj-leaked-by-the-provider-1")
        scripted_openai.play(told)

        response = as_admin.post("/endpoints/main/test/")

        assert b"leaked-by-the-provider" not in response.content
        assert "leaked-by" not in str(Endpoint.objects.get().trial)

    def test_a_permission_taken_back_counts_at_the_next_connection(
        self, as_admin, served, scripted_openai
    ):
        Endpoint.objects.update(allow_private=False)

        page = text_of(as_admin.post("/endpoints/main/test/"))

        assert "Its address is not permitted" in page
        assert "Nothing was sent." in page
        assert scripted_openai.requests == []

    def test_values_can_be_tested_before_they_are_saved(
        self, as_admin, scripted_openai
    ):
        url = scripted_openai.base_url
        values = fill(base_url=url, allow_private="on", test="1")

        response = as_admin.post("/endpoints/new/", values)

        assert "It answered in" in text_of(response)
        assert f'value="{url}"' in response.content.decode()
        assert not Endpoint.objects.exists()

    def test_the_environments_endpoint_can_be_tested(
        self, as_admin, settings, scripted_openai
    ):
        settings.OPENAI_BASE_URL = scripted_openai.base_url

        page = text_of(as_admin.post("/endpoints/environment/test/"))

        assert "It answered in" in page

    def test_htmx_gets_the_list_with_the_result(self, as_admin, served):
        response = as_admin.post("/endpoints/main/test/", headers=HTMX)

        assert b"It answered in" in response.content
        assert b"<html" not in response.content
