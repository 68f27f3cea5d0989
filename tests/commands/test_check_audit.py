"""The chain of recorded actions, checked from the command line."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from compaction.models import OperatorAction
from compaction.services.audit import record_action

pytestmark = pytest.mark.django_db


def check():
    out = io.StringIO()
    call_command("check_audit", stdout=out)
    return out.getvalue()


def test_an_untouched_chain_fits(operator):
    for _ in range(3):
        record_action(operator, "test")

    assert check() == "3 actions, every seal fits.\n"


def test_a_changed_row_is_named(operator):
    for _ in range(3):
        record_action(operator, "test")
    second = OperatorAction.objects.order_by("pk")[1]
    OperatorAction.objects.filter(pk=second.pk).update(verb="forged")

    with pytest.raises(CommandError, match=f"Row {second.pk} "):
        check()
