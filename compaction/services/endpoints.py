"""Endpoints as admins keep them: added, changed, put in order, switched, deleted.

Every act leaves a row in the audit. The key itself is never seen here, only the name
of the variable that holds it.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from compaction import wiring
from compaction.adapters.address_rules import AddressRule, Resolve, check_base_url
from compaction.models import Endpoint
from compaction.services.audit import Change, record_action

RESERVED = "environment"
"""Names of endpoints that the environment makes begin like this."""
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointDraft:
    """An endpoint as an admin wants it; the fields are those of the model.

    `base_version` is the version that stood on the page, None for a new one.
    """

    name: str
    base_url: str
    model: str
    window: int = 128_000
    key_env: str = ""
    timeout: float = 300.0
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    answers_turns: bool = True
    writes_summaries: bool = False
    enabled: bool = True
    allow_private: bool = False
    base_version: int | None = None


class EndpointFault(Exception):
    """A draft that cannot be saved: which field, and why as a code for the forms."""

    def __init__(self, field: str, code: str) -> None:
        super().__init__(f"{field}: {code}")
        self.field = field
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointConflict:
    """Somebody else changed, made or removed it; nothing was written."""

    theirs: Endpoint | None


class Direction(StrEnum):
    """Where an endpoint is moved in the order."""

    FIRST = "first"
    UP = "up"
    DOWN = "down"


def check_draft(draft: EndpointDraft, *, resolve: Resolve | None = None) -> None:
    """Raise EndpointFault for what cannot work; `resolve` looks a name up."""
    if not draft.name or draft.name != slugify(draft.name) or len(draft.name) > 64:
        raise EndpointFault("name", "slug")
    if draft.name == "new" or draft.name.startswith(RESERVED):
        raise EndpointFault("name", "reserved")
    rule = AddressRule.PRIVATE if draft.allow_private else AddressRule.PUBLIC
    fault = check_base_url(draft.base_url, rule, resolve=resolve)
    if fault is not None:
        raise EndpointFault("base_url", fault.value)
    _check_key_variable(draft.key_env)
    if (draft.input_price is None) != (draft.output_price is None):
        missing = "input_price" if draft.input_price is None else "output_price"
        raise EndpointFault(missing, "one_price")


def _check_key_variable(name: str) -> None:
    """Refuse variables that are no keys of models: their values would be sent away."""
    if not name or name in wiring.named_key_variables():
        return
    if not _VARIABLE.fullmatch(name):
        raise EndpointFault("key_env", "no_name")
    if not name.endswith("_API_KEY"):
        raise EndpointFault("key_env", "no_key_name")


def save_endpoint(
    draft: EndpointDraft, *, operator: User | None, endpoint: Endpoint | None = None
) -> Endpoint | EndpointConflict:
    """Add an endpoint, or change one; raises EndpointFault for what cannot work.

    The name is not looked up here: `check_draft` with a resolver does that, outside
    of a transaction, and every connection is checked in any case.
    """
    check_draft(draft)
    try:
        with transaction.atomic():
            if endpoint is None:
                return _create(draft, operator)
            return _change(endpoint, draft, operator)
    except IntegrityError:
        return EndpointConflict(theirs=Endpoint.objects.filter(name=draft.name).first())


def _create(draft: EndpointDraft, operator: User | None) -> Endpoint:
    last = Endpoint.objects.order_by("-position").first()
    position = last.position + 1 if last else 0
    made = Endpoint.objects.create(**_columns(draft), position=position)
    change = Change(target=f"endpoint:{made.name}", after=facts_of(made))
    record_action(operator, "add_endpoint", change=change)
    return made


def _change(
    endpoint: Endpoint, draft: EndpointDraft, operator: User | None
) -> Endpoint | EndpointConflict:
    row = _locked(endpoint)
    if row is None or row.version != draft.base_version:
        return EndpointConflict(theirs=row)
    before = facts_of(row)
    if any(getattr(row, name) != getattr(draft, name) for name in _TESTED):
        row.trial = {}  # what was tested is no longer what stands here
    for name, value in _columns(draft).items():
        setattr(row, name, value)
    return _write(row, before, operator, verb="change_endpoint")


_TESTED = ("base_url", "model", "key_env", "allow_private")


def _columns(draft: EndpointDraft) -> dict[str, Any]:
    columns = asdict(draft)
    del columns["base_version"]
    return columns


def _locked(endpoint: Endpoint) -> Endpoint | None:
    return Endpoint.objects.select_for_update().filter(pk=endpoint.pk).first()


def _write(
    row: Endpoint, before: dict[str, Any], operator: User | None, *, verb: str
) -> Endpoint:
    row.version += 1
    row.save()
    change = Change(target=f"endpoint:{row.name}", before=before, after=facts_of(row))
    record_action(operator, verb, change=change)
    return row


def enable_endpoint(endpoint: Endpoint, *, operator: User | None) -> None:
    """Let an endpoint be asked again."""
    _switch(endpoint, operator, verb="enable_endpoint", enabled=True)


def disable_endpoint(endpoint: Endpoint, *, operator: User | None) -> None:
    """Ask an endpoint no more; its place in the order is kept."""
    _switch(endpoint, operator, verb="disable_endpoint", enabled=False)


def _switch(
    endpoint: Endpoint, operator: User | None, *, verb: str, enabled: bool
) -> None:
    with transaction.atomic():
        row = _locked(endpoint)
        if row is None or row.enabled == enabled:
            return
        before = facts_of(row)
        row.enabled = enabled
        _write(row, before, operator, verb=verb)


def move_endpoint(
    endpoint: Endpoint, direction: Direction, *, operator: User | None
) -> None:
    """Move an endpoint in the order; at the end of it nothing happens."""
    with transaction.atomic():
        rows = list(Endpoint.objects.select_for_update().order_by("position", "pk"))
        before = [row.name for row in rows]
        after = _moved(before, endpoint.name, direction)
        if after == before:
            return
        for row in rows:
            row.position = after.index(row.name)
        Endpoint.objects.bulk_update(rows, ["position"])
        change = Change(target=f"endpoint:{endpoint.name}", before=before, after=after)
        record_action(operator, "move_endpoint", change=change)


def _moved(names: list[str], name: str, direction: Direction) -> list[str]:
    if name not in names:
        return names
    place = names.index(name)
    steps = {Direction.FIRST: 0, Direction.UP: max(0, place - 1)}
    others = [other for other in names if other != name]
    others.insert(steps.get(direction, place + 1), name)
    return others


def delete_endpoint(endpoint: Endpoint, *, operator: User | None) -> None:
    """Remove an endpoint; conversations that were on it begin at the primary again."""
    with transaction.atomic():
        change = Change(target=f"endpoint:{endpoint.name}", before=facts_of(endpoint))
        record_action(operator, "delete_endpoint", change=change)
        endpoint.delete()


def facts_of(endpoint: Endpoint) -> dict[str, Any]:
    """Return what the audit keeps of an endpoint, as JSON."""
    prices = (endpoint.input_price, endpoint.output_price)
    return {
        "name": endpoint.name,
        "base_url": endpoint.base_url,
        "model": endpoint.model,
        "window": endpoint.window,
        "key_env": endpoint.key_env,
        "timeout": endpoint.timeout,
        "prices": [None if price is None else f"{price:f}" for price in prices],
        "answers_turns": endpoint.answers_turns,
        "writes_summaries": endpoint.writes_summaries,
        "enabled": endpoint.enabled,
        "allow_private": endpoint.allow_private,
    }
