"""Roles: three groups, each with all that the one before has.

A viewer reads, an operator acts on conversations, an admin sets what holds for
everybody. Somebody in none of the groups sees nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, User

Person = AbstractBaseUser | AnonymousUser


class Role(StrEnum):
    """The groups, weakest first."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        """The place in the order; a higher rank may do more."""
        return list(Role).index(self)


class Verb(StrEnum):
    """What somebody may do to the console or a conversation."""

    VIEW = "view"
    COMPACT = "compact"
    FORCE_COMPACT = "force_compact"
    CANCEL_RUN = "cancel_run"
    EDIT_SUMMARY = "edit_summary"
    EDIT_TASK_STATE = "edit_task_state"
    EDIT_MEMORY = "edit_memory"
    CLEAR_COOLDOWN = "clear_cooldown"
    SEND_MESSAGE = "send_message"
    STOP_TURN = "stop_turn"
    SET_POLICY = "set_policy"
    IMPORT = "import"
    EDIT_PROFILES = "edit_profiles"
    EDIT_ENDPOINTS = "edit_endpoints"
    IMPORT_FROM_MACHINE = "import_from_machine"
    INVITE = "invite"


_LEAST: Mapping[Verb, Role] = {
    Verb.VIEW: Role.VIEWER,
    Verb.EDIT_PROFILES: Role.ADMIN,
    Verb.EDIT_ENDPOINTS: Role.ADMIN,
    # Reads files of the machine that the uploader could not read himself.
    Verb.IMPORT_FROM_MACHINE: Role.ADMIN,
    Verb.INVITE: Role.ADMIN,
}


def role_of(person: Person) -> Role | None:
    """Return the strongest role of somebody who may sign in, None without one.

    Asks the database once for each user object.
    """
    if not isinstance(person, User) or not person.is_active:
        return None
    if person.is_superuser:
        return Role.ADMIN
    names: set[str] | None = getattr(person, "_group_names", None)
    if names is None:
        names = set(person.groups.values_list("name", flat=True))
        person._group_names = names  # type: ignore[attr-defined]
    held = [role for role in Role if role.value in names]
    return held[-1] if held else None


def can(person: Person, verb: Verb | str) -> bool:
    """True when somebody's role allows the verb; an unknown verb raises ValueError."""
    role = role_of(person)
    least = _LEAST.get(Verb(verb), Role.OPERATOR)
    return role is not None and role.rank >= least.rank


def ensure_roles() -> Mapping[Role, Group]:
    """Return the three groups, made where they are missing."""
    return {role: Group.objects.get_or_create(name=role.value)[0] for role in Role}


def give_role(person: User, role: Role) -> None:
    """Give somebody this role and no other."""
    groups = ensure_roles()
    person.groups.remove(*groups.values())
    person.groups.add(groups[role])
    person.__dict__.pop("_group_names", None)
