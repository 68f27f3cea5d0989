"""People at the browser, and a clean start for what a process keeps."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client

from compaction.selectors.plans import forget_plans


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    """Counts and plans are kept for a while; a test must not see another's."""
    cache.clear()
    forget_plans()


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def as_viewer(viewer) -> Client:
    return signed_in(viewer)


@pytest.fixture
def as_operator(operator) -> Client:
    return signed_in(operator)


@pytest.fixture
def as_stranger(stranger) -> Client:
    return signed_in(stranger)


@pytest.fixture
def as_admin(admin) -> Client:
    return signed_in(admin)
