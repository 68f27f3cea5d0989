"""Sign-in links."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from compaction.models import SignInToken
from compaction.services import sign_in
from compaction.services.sign_in import Redeemed, Refusal, issue_sign_in_token, redeem

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return User.objects.create_user("olaf")


def test_a_link_signs_its_user_in_once(user):
    token = issue_sign_in_token(user)

    assert redeem(token) == Redeemed(user=user)
    assert redeem(token) is Refusal.USED


def test_a_link_is_good_for_ten_minutes_and_not_longer(user):
    start = timezone.now()
    token, late = (issue_sign_in_token(user, now=start) for _ in range(2))

    assert redeem(late, now=start + timedelta(minutes=10)) is Refusal.EXPIRED
    assert isinstance(redeem(token, now=start + timedelta(seconds=599)), Redeemed)


def test_a_used_link_stays_used_after_its_time(user):
    start = timezone.now()
    token = issue_sign_in_token(user, now=start)
    redeem(token, now=start)

    assert redeem(token, now=start + timedelta(hours=1)) is Refusal.USED


def test_of_two_who_looked_at_the_same_moment_one_is_let_in(user, monkeypatch):
    token = issue_sign_in_token(user)
    seen_before = sign_in._find(token)
    assert redeem(token) == Redeemed(user=user)
    monkeypatch.setattr(sign_in, "_find", lambda _: seen_before)

    assert redeem(token) is Refusal.USED


def test_the_token_itself_is_not_in_the_database(user):
    token = issue_sign_in_token(user)

    row = SignInToken.objects.values().get()
    assert token not in str(row)


@pytest.mark.parametrize("token", ["", "guess", "\ud800", "\x00", "x" * 10_000])
def test_an_invented_token_is_refused_without_an_error(token):
    assert redeem(token) is Refusal.UNKNOWN


def test_a_person_who_is_switched_off_is_not_let_in(user):
    token = issue_sign_in_token(user)
    user.is_active = False
    user.save()

    assert redeem(token) is Refusal.INACTIVE
    assert SignInToken.objects.get().used_at is None


def test_old_tokens_are_swept_away_when_a_new_one_is_made(user):
    now = timezone.now()
    issue_sign_in_token(user, now=now - timedelta(days=2))
    issue_sign_in_token(user, now=now)

    assert SignInToken.objects.count() == 1
