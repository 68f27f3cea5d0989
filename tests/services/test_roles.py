"""Roles and what they allow."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User

from compaction.services.roles import Role, Verb, can, give_role, role_of

pytestmark = pytest.mark.django_db


def test_a_viewer_reads_and_does_nothing(viewer):
    assert [verb for verb in Verb if can(viewer, verb)] == [Verb.VIEW]


def test_an_operator_acts_on_conversations_but_sets_nothing_for_everybody(operator):
    refused = {verb for verb in Verb if not can(operator, verb)}

    assert refused == {
        Verb.EDIT_PROFILES,
        Verb.EDIT_ENDPOINTS,
        Verb.IMPORT_FROM_MACHINE,
        Verb.INVITE,
    }


def test_an_admin_may_do_everything(admin):
    assert all(can(admin, verb) for verb in Verb)


def test_somebody_without_a_role_may_not_even_look(stranger):
    assert not any(can(stranger, verb) for verb in Verb)
    assert not can(AnonymousUser(), Verb.VIEW)


def test_an_admin_who_is_switched_off_may_nothing(admin):
    admin.is_active = False

    assert not any(can(admin, verb) for verb in Verb)


def test_a_new_role_replaces_the_old_one_at_once(admin):
    assert role_of(admin) is Role.ADMIN

    give_role(admin, Role.VIEWER)

    assert role_of(admin) is Role.VIEWER
    assert role_of(User.objects.get(pk=admin.pk)) is Role.VIEWER


def test_a_verb_that_does_not_exist_is_an_error_and_not_a_no(admin):
    with pytest.raises(ValueError, match="fly"):
        can(admin, "fly")


def test_the_role_is_asked_of_the_database_once(operator, django_assert_num_queries):
    person = User.objects.get(pk=operator.pk)

    with django_assert_num_queries(1):
        assert can(person, Verb.COMPACT)
        assert can(person, Verb.EDIT_SUMMARY)
