"""The way in and out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from compaction.models import SignInToken
from compaction.services.sign_in import issue_sign_in_token
from tests.web.reading import text_of

pytestmark = pytest.mark.django_db


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_opening_a_link_changes_nothing_and_the_button_signs_in(client, viewer):
    address = f"/sign-in/{issue_sign_in_token(viewer)}/"

    page = text_of(client.get(address))
    assert "You will be signed in as vera" in page
    assert not is_signed_in(client)

    assert client.post(address)["Location"] == "/"
    assert is_signed_in(client)


def test_a_link_works_once(client, viewer):
    address = f"/sign-in/{issue_sign_in_token(viewer)}/"
    client.post(address)
    late = Client()

    for response in (late.get(address), late.post(address)):
        assert response.status_code == 410
        assert "was already used" in text_of(response)
    assert not is_signed_in(late)


def test_a_link_grows_too_old(client, viewer):
    address = f"/sign-in/{issue_sign_in_token(viewer)}/"
    SignInToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    response = client.post(address)

    assert response.status_code == 410
    assert "has run out" in text_of(response)
    assert not is_signed_in(client)


def test_a_made_up_link_signs_nobody_in(client):
    response = client.get("/sign-in/no-such-token/")

    assert response.status_code == 410
    assert "does not work" in text_of(response)


def test_somebody_switched_off_stays_outside(client, viewer):
    address = f"/sign-in/{issue_sign_in_token(viewer)}/"
    User.objects.update(is_active=False)

    assert "is switched off" in text_of(client.post(address))
    assert not is_signed_in(client)


def test_the_page_for_strangers_names_the_command_and_no_password(client):
    response = client.get("/runs/", follow=True)

    assert "python manage.py sign_in_link" in text_of(response)
    assert 'type="password"' not in response.content.decode()


def test_after_signing_in_one_is_where_one_wanted_to_be(client, viewer):
    client.get("/runs/?status=failed", follow=True)

    response = client.post(f"/sign-in/{issue_sign_in_token(viewer)}/")

    assert response["Location"] == "/runs/?status=failed"


def test_nobody_is_led_to_another_site(client, viewer):
    client.get("/sign-in/?next=https://elsewhere.example/")

    response = client.post(f"/sign-in/{issue_sign_in_token(viewer)}/")

    assert response["Location"] == "/"


def test_signing_out_says_so_once(as_viewer):
    page = as_viewer.post("/sign-out/", follow=True)

    assert "You are signed out" in text_of(page)
    assert not is_signed_in(as_viewer)
    assert "Please sign in" in text_of(as_viewer.get("/sign-in/"))


def test_a_link_signs_nobody_out(as_viewer):
    assert as_viewer.get("/sign-out/").status_code == 405
    assert is_signed_in(as_viewer)


def test_whoever_is_signed_in_needs_no_link(as_viewer):
    assert as_viewer.get("/sign-in/")["Location"] == "/"


def test_sign_in_pages_are_kept_by_no_cache(client, viewer):
    response = client.get(f"/sign-in/{issue_sign_in_token(viewer)}/")

    assert "no-store" in response["Cache-Control"]
