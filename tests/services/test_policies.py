"""Policies: layers, profiles, a conversation's own values, the floor."""

from __future__ import annotations

import pytest

from compaction.engine.messages import Role
from compaction.engine.policy import PolicyError
from compaction.engine.presets import HERMES
from compaction.models import Conversation, OperatorAction, PolicyProfile
from compaction.services.policies import (
    PolicyChoice,
    check_policy,
    clear_policy,
    policy_in_force,
    set_policy,
)
from compaction.services.profiles import (
    ProfileConflict,
    ProfileDraft,
    delete_profile,
    save_profile,
)
from tests.conversations import long_work, say, store_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def session():
    return store_session(long_work(), window=64_000)


def long_jobs(**changes):
    draft = {"name": "long-jobs", "overrides": {"threshold_ratio": "0.8"}, **changes}
    return ProfileDraft(**draft)


def test_without_any_choice_the_default_holds_at_the_conversations_window(session):
    in_force = policy_in_force(session)

    assert in_force.policy.context_length == 64_000
    assert in_force.policy.threshold_tokens == 32_000
    assert in_force.source_of("context_length") == "window"
    assert in_force.source_of("tail_ratio") == "preset"


def test_each_value_says_who_set_it(session, operator):
    profile = save_profile(
        long_jobs(overrides={"threshold_ratio": 0.8, "min_tail": 5}), operator=operator
    )
    choice = PolicyChoice(profile=profile, values={"min_tail": "9"})
    set_policy(session.conversation, choice, operator=operator)

    in_force = policy_in_force(session, {"protect_first": 1})

    assert in_force.policy.name == in_force.profile == "long-jobs"
    assert in_force.sources == {
        "context_length": "window",
        "threshold_ratio": "profile",
        "min_tail": "conversation",
        "protect_first": "request",
    }
    assert (in_force.policy.threshold_ratio, in_force.policy.min_tail) == (0.8, 9)


def test_a_preset_can_be_chosen_for_one_conversation(session, operator):
    set_policy(session.conversation, PolicyChoice(preset="hermes"), operator=operator)

    in_force = policy_in_force(session)

    assert in_force.preset == "hermes"
    assert in_force.policy == HERMES.evolve(context_length=64_000)


def test_values_that_no_longer_work_are_reported_and_the_rest_holds(session):
    conversation = session.conversation
    conversation.policy_overrides = {"reserved_output": 90_000}
    conversation.save()

    in_force = policy_in_force(session)

    assert in_force.policy.context_length == 64_000
    (fault,) = in_force.faults
    assert (fault.source, fault.field) == ("conversation", "reserved_output")


def test_a_threshold_below_the_floor_is_refused_with_the_floor(session, operator):
    choice = PolicyChoice(values={"threshold_cap": 500})

    with pytest.raises(PolicyError, match=r"floor of [\d,]+"):
        set_policy(session.conversation, choice, operator=operator)

    assert policy_in_force(session).policy.threshold_cap is None
    assert Conversation.objects.get().policy_overrides == {}
    assert not OperatorAction.objects.exists()


def test_a_refused_choice_leaves_the_object_in_hand_as_it_was(session, operator):
    choice = PolicyChoice(values={"threshold_cap": 500})
    with pytest.raises(PolicyError):
        set_policy(session.conversation, choice, operator=operator)

    assert session.conversation.policy_overrides == {}


def test_a_conversation_that_is_below_its_floor_already_may_be_raised(operator):
    huge_start = [say(Role.USER, "word " * 30_000), say(Role.ASSISTANT, "Read.")]
    conversation = store_session(huge_start, window=32_000).conversation

    in_force = set_policy(
        conversation, PolicyChoice(values={"threshold_ratio": 0.7}), operator=operator
    )

    assert in_force.policy.threshold_ratio == 0.7


def test_a_policy_can_be_checked_without_setting_it(session):
    with pytest.raises(PolicyError, match="floor"):
        check_policy(session.conversation, {"threshold_cap": 500})
    with pytest.raises(PolicyError, match="no policy has a value of this name"):
        check_policy(session.conversation, {"treshold": 1})

    assert check_policy(session.conversation, {"min_tail": 1}).policy.min_tail == 1
    assert Conversation.objects.get().policy_overrides == {}


def test_a_change_moves_the_threshold_in_the_list_and_the_state(session, operator):
    conversation = Conversation.objects.get()
    assert conversation.state == Conversation.State.IDLE

    lower = conversation.tokens - 1
    set_policy(
        conversation, PolicyChoice(values={"threshold_cap": lower}), operator=operator
    )

    row = Conversation.objects.get()
    assert (row.threshold, row.state) == (lower, Conversation.State.OVER)


def test_a_change_can_be_taken_back_and_both_are_recorded(session, operator):
    conversation = session.conversation
    choice = PolicyChoice(values={"min_tail": 9})
    set_policy(conversation, choice, operator=operator, reason="long answers")
    clear_policy(conversation, operator=operator)

    first, second = OperatorAction.objects.order_by("pk")
    assert first.reason == "long answers"
    assert first.after["values"] == {"min_tail": 9}
    assert second.after["values"] == {}
    assert policy_in_force(session).source_of("min_tail") == "preset"


def test_setting_the_same_again_is_no_act(session, operator):
    for _ in range(2):
        choice = PolicyChoice(values={"min_tail": 9})
        set_policy(session.conversation, choice, operator=operator)

    assert OperatorAction.objects.count() == 1


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (long_jobs(name="Long Jobs"), "name"),
        (long_jobs(name=""), "name"),
        (long_jobs(name="hermes"), "name"),
        (long_jobs(preset="none-such"), "preset"),
        (long_jobs(overrides={"tail_ratio": 2}), "tail_ratio"),
        (long_jobs(overrides={"context_length": 5}), "context_length"),
        (long_jobs(overrides={"cut_rule": "anywhere"}), "cut_rule"),
    ],
)
def test_a_profile_that_cannot_work_is_refused_by_field(draft, field):
    with pytest.raises(PolicyError) as refused:
        save_profile(draft, operator=None)

    assert refused.value.field == field
    assert not PolicyProfile.objects.exists()


def test_a_profile_keeps_values_as_they_are_meant():
    profile = save_profile(
        long_jobs(overrides={"threshold_cap": "12,000", "prune_form": "placeholder"}),
        operator=None,
    )

    profile.refresh_from_db()
    assert profile.overrides == {"threshold_cap": 12_000, "prune_form": "placeholder"}


def test_a_changed_profile_reaches_the_conversations_that_follow_it(session, operator):
    profile = save_profile(long_jobs(), operator=operator)
    set_policy(session.conversation, PolicyChoice(profile=profile), operator=operator)
    assert Conversation.objects.get().threshold == 51_200

    draft = long_jobs(overrides={"threshold_ratio": 0.25}, base_version=1)
    changed = save_profile(draft, operator=operator, profile=profile)

    assert changed.version == 2
    assert Conversation.objects.get().threshold == 16_000


def test_two_who_change_a_profile_do_not_overwrite_each_other(operator, admin):
    profile = save_profile(long_jobs(), operator=operator)
    save_profile(
        long_jobs(note="mine", base_version=1), operator=operator, profile=profile
    )

    late = save_profile(
        long_jobs(note="late", base_version=1), operator=admin, profile=profile
    )

    assert isinstance(late, ProfileConflict)
    assert late.theirs.note == "mine"
    assert PolicyProfile.objects.get().note == "mine"


def test_a_name_that_is_taken_is_a_conflict_and_not_an_error(operator):
    first = save_profile(long_jobs(), operator=operator)
    other = save_profile(long_jobs(name="other"), operator=operator)

    again = save_profile(long_jobs(), operator=operator)
    renamed = save_profile(long_jobs(base_version=1), operator=operator, profile=other)

    assert again == renamed == ProfileConflict(theirs=first)


def test_a_deleted_profile_leaves_its_conversations_on_the_default(session, operator):
    profile = save_profile(long_jobs(), operator=operator)
    set_policy(session.conversation, PolicyChoice(profile=profile), operator=operator)

    assert delete_profile(profile, operator=operator) == 1

    row = Conversation.objects.get()
    assert (row.profile, row.threshold) == (None, 32_000)
    assert OperatorAction.objects.latest("pk").before["name"] == "long-jobs"
