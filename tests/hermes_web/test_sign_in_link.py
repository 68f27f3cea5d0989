"""Letting people in from the command line."""

from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from compaction.services.roles import Role, role_of
from compaction.services.sign_in import Redeemed, redeem
from hermes_web import first_start


def link(*arguments):
    out = StringIO()
    call_command("sign_in_link", *arguments, stdout=out)
    return out.getvalue().strip()


def person_behind(address):
    redeemed = redeem(address.rstrip("/").rsplit("/", 1)[1])
    assert isinstance(redeemed, Redeemed)
    return redeemed.user


@pytest.mark.django_db
def test_without_a_name_the_first_admin_is_made_and_let_in():
    person = person_behind(link())

    assert (person.username, role_of(person)) == ("admin", Role.ADMIN)
    assert not person.has_usable_password()


@pytest.mark.django_db
def test_an_admin_who_is_there_already_is_not_doubled():
    person_behind(link("ann", "--role", "admin"))

    assert person_behind(link()).username == "ann"
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_a_new_person_gets_the_role_that_was_named():
    person = person_behind(link("ann", "--role", "viewer"))

    assert (person.username, role_of(person)) == ("ann", Role.VIEWER)


@pytest.mark.django_db
def test_naming_another_role_replaces_the_first():
    link("ann", "--role", "admin")

    assert role_of(person_behind(link("ann", "--role", "viewer"))) == Role.VIEWER


@pytest.mark.django_db
def test_without_a_role_a_known_person_keeps_hers():
    link("ann", "--role", "operator")

    assert role_of(person_behind(link("ann"))) == Role.OPERATOR


@pytest.mark.django_db
def test_a_mistyped_name_makes_nobody():
    with pytest.raises(CommandError, match="Nobody is called 'anm'"):
        link("anm")

    assert not User.objects.exists()


@pytest.mark.django_db
def test_who_was_switched_off_gets_no_link():
    User.objects.create_user("ann", is_active=False)

    with pytest.raises(CommandError, match="switched off"):
        link("ann", "--role", "operator")


@pytest.mark.django_db
def test_an_admin_who_was_switched_off_is_not_switched_on_by_a_start():
    User.objects.create_user("admin", is_active=False)

    with pytest.raises(CommandError, match="Let another one in"):
        first_start.first_admin()


@pytest.mark.django_db
def test_the_link_leads_to_the_address_that_was_named():
    address = link("ann", "--role", "viewer", "--address", "https://console.example/")

    assert address.startswith("https://console.example/sign-in/")
