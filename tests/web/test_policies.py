"""Presets and profiles side by side, and the policy of one conversation."""

from __future__ import annotations

from typing import Any

import pytest

from compaction.engine.messages import Role
from compaction.engine.policy import CompactionPolicy
from compaction.forms.policy_fields import FIELDS
from compaction.models import Conversation, OperatorAction, PolicyProfile, Session
from compaction.services.policies import policy_in_force
from tests.conversations import long_work, say, store_session
from tests.web.reading import count_queries, text_of
from tests.web.run_rows import HOSTILE

pytestmark = pytest.mark.django_db


def a_profile(**values: Any) -> PolicyProfile:
    defaults = {
        "name": "long-jobs",
        "preset": "default",
        "overrides": {"threshold_ratio": 0.7},
    }
    return PolicyProfile.objects.create(**{**defaults, **values})


def fill(**values: Any) -> dict[str, Any]:
    return {"name": "long-jobs", "preset": "default", **values}


def policy_of(session: Session) -> CompactionPolicy:
    conversation = Conversation.objects.get(pk=session.conversation_id)
    session.conversation = conversation
    return policy_in_force(session).policy


class TestList:
    def test_every_value_of_a_policy_stands_in_the_table(self):
        left_out = {"name", "context_length"}  # facts of the conversation

        assert set(FIELDS) == set(CompactionPolicy.__slots__) - left_out

    def test_presets_and_profiles_stand_side_by_side(self, as_viewer):
        a_profile(name="night-work")

        response = as_viewer.get("/policies/")

        names = [column.name for column in response.context["columns"]]
        assert names == ["default", "hermes", "tutorial", "night-work"]
        assert "0.7" in text_of(response)

    def test_what_differs_from_the_default_is_marked_in_words(self, as_viewer):
        page = text_of(as_viewer.get("/policies/"))

        assert "differs: 50,000" in page

    def test_differences_can_be_shown_alone(self, as_viewer):
        every = as_viewer.get("/policies/").context["groups"]
        some = as_viewer.get("/policies/?only=differences").context["groups"]

        def rows(groups):
            return [row for _, rows in groups for row in rows]

        assert len(rows(some)) < len(rows(every))
        assert all(row.differs for row in rows(some))

    def test_a_profile_that_no_longer_works_is_said_and_not_fatal(self, as_viewer):
        a_profile(overrides={"threshold_ratio": 7})

        assert "no longer works" in text_of(as_viewer.get("/policies/"))

    def test_only_an_admin_sees_how_to_make_one(self, as_operator, as_admin):
        assert "New profile" not in text_of(as_operator.get("/policies/"))
        assert "New profile" in text_of(as_admin.get("/policies/"))

    def test_a_stranger_finds_nothing(self, as_stranger):
        assert as_stranger.get("/policies/").status_code == 404

    def test_more_profiles_cost_no_more_queries(self, as_viewer):
        a_profile(name="one")
        few = count_queries(as_viewer, "/policies/")
        for number in range(10):
            a_profile(name=f"more-{number}")

        assert count_queries(as_viewer, "/policies/") == few


class TestProfile:
    def test_an_admin_makes_one(self, as_admin):
        response = as_admin.post(
            "/policies/new/", fill(threshold_ratio="0.6", threshold_cap="none")
        )

        assert response.status_code == 303
        made = PolicyProfile.objects.get()
        assert made.overrides == {"threshold_ratio": 0.6, "threshold_cap": None}
        assert OperatorAction.objects.get().verb == "create_profile"

    @pytest.mark.parametrize(
        ("values", "field", "said"),
        [
            ({"threshold_ratio": "7"}, "threshold_ratio", "between 0 and 1"),
            ({"threshold_ratio": "half"}, "threshold_ratio", "cannot be"),
            ({"summary_min": "9", "summary_max": "3"}, "summary_min", "above 0"),
            ({"name": "Long Jobs"}, "name", "Small letters"),
            ({"name": "hermes"}, "name", "name of a preset"),
            ({"name": ""}, "name", "required"),
            ({"on_failure": "pray"}, "on_failure", "valid choice"),
        ],
    )
    def test_what_cannot_work_is_said_at_its_field(self, as_admin, values, field, said):
        page = as_admin.post("/policies/new/", fill(**values))

        assert page.status_code == 422
        assert said in str(page.context["form"].errors[field])
        assert 'aria-invalid="true"' in page.content.decode()
        assert not PolicyProfile.objects.exists()

    def test_a_name_that_is_taken_is_refused(self, as_admin):
        a_profile()

        page = as_admin.post("/policies/new/", fill())

        assert "There is a profile of this name already." in text_of(page)

    def test_an_admin_changes_one(self, as_admin):
        a_profile()
        address = "/policies/profiles/long-jobs/"
        assert '0.7"' in as_admin.get(address).content.decode()

        as_admin.post(address, fill(threshold_ratio="0.8", base_version=1))

        assert PolicyProfile.objects.get().overrides == {"threshold_ratio": 0.8}

    def test_two_who_change_it_at_once_get_a_conflict(self, as_admin):
        a_profile()
        address = "/policies/profiles/long-jobs/"
        as_admin.post(address, fill(threshold_ratio="0.8", base_version=1))

        late = as_admin.post(address, fill(threshold_ratio="0.9", base_version=1))

        assert late.status_code == 409
        assert "was changed while you edited it" in text_of(late)
        assert 'value="0.9"' in late.content.decode()
        assert PolicyProfile.objects.get().overrides == {"threshold_ratio": 0.8}

    def test_deleting_asks_first_and_followers_fall_back(self, as_admin):
        session = store_session(long_work(4))
        Conversation.objects.update(profile=a_profile())
        address = "/policies/profiles/long-jobs/delete/"

        assert "follow the default" in text_of(as_admin.get(address))
        assert PolicyProfile.objects.exists()

        as_admin.post(address)

        assert not PolicyProfile.objects.exists()
        assert policy_of(session).threshold_ratio == 0.5

    def test_an_operator_may_not(self, as_operator):
        a_profile()
        for address in (
            "/policies/new/",
            "/policies/profiles/long-jobs/",
            "/policies/profiles/long-jobs/delete/",
        ):
            assert as_operator.get(address).status_code == 403
            assert as_operator.post(address, fill()).status_code == 403
        assert PolicyProfile.objects.get().version == 1

    def test_hostile_notes_are_shown_and_do_nothing(self, as_admin):
        a_profile(note=HOSTILE)

        page = as_admin.get("/policies/profiles/long-jobs/").content.decode()

        assert "<script>alert" not in page


class TestConversation:
    def test_each_value_says_where_it_comes_from(self, as_viewer):
        session = store_session(long_work(4), profile=a_profile())
        Conversation.objects.update(policy_overrides={"min_tail": 5})

        page = text_of(as_viewer.get(f"/sessions/{session.pk}/policy/"))

        assert "Threshold, share of the window profile 0.7" in page
        assert "At least this conversation 5" in page

    def test_an_operator_sets_what_it_follows_and_values_of_its_own(self, as_operator):
        session = store_session(long_work(4))
        profile = a_profile()
        chosen = {"follows": f"profile:{profile.pk}", "min_tail": "6", "reason": "why"}

        response = as_operator.post(f"/sessions/{session.pk}/policy/", chosen)

        assert response.status_code == 303
        assert policy_of(session).min_tail == 6
        assert policy_of(session).threshold_ratio == 0.7
        assert OperatorAction.objects.get().reason == "why"

    def test_it_may_follow_another_preset(self, as_operator):
        session = store_session(long_work(4), window=200_000)

        as_operator.post(
            f"/sessions/{session.pk}/policy/", {"follows": "preset:tutorial"}
        )

        assert policy_of(session).name == "tutorial"

    def test_a_threshold_that_no_run_could_reach_is_refused_with_the_floor(
        self, as_operator
    ):
        session = store_session([say(Role.SYSTEM, "x " * 4_000), *long_work(8)])
        chosen = {"follows": "preset:default", "threshold_ratio": "0.01"}

        page = as_operator.post(f"/sessions/{session.pk}/policy/", chosen)

        assert page.status_code == 422
        assert "No run could get below this threshold" in text_of(page)
        assert policy_of(session).threshold_ratio == 0.5

    def test_a_viewer_reads_and_may_not_change(self, as_viewer):
        session = store_session(long_work(4))
        address = f"/sessions/{session.pk}/policy/"

        assert "Save for this conversation" not in text_of(as_viewer.get(address))
        assert as_viewer.post(address, {"min_tail": "6"}).status_code == 403

    def test_a_stranger_finds_nothing(self, as_stranger):
        session = store_session(long_work(4))

        assert as_stranger.get(f"/sessions/{session.pk}/policy/").status_code == 404
