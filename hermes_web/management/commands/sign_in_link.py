"""Print a one-time sign-in link; the way to let a new person in."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management.base import BaseCommand, CommandError

from compaction.services.sign_in import issue_sign_in_token
from hermes_web import first_start

ROLES = ("viewer", "operator", "admin")


class Command(BaseCommand):
    """Print a link that signs one person in, once, within ten minutes."""

    help = (
        "Print a sign-in link, valid once and for ten minutes. With --role, the "
        "person is made when new, and has that role from then on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the person, a role, and the address the console is reached at."""
        parser.add_argument("username", nargs="?", help="default: the first admin")
        parser.add_argument("--role", choices=ROLES)
        parser.add_argument("--address", default="http://127.0.0.1:8000")

    def handle(self, *args: Any, **options: Any) -> None:
        """Issue the token and print the link."""
        token = issue_sign_in_token(_person(options["username"], options["role"]))
        self.stdout.write(f"{options['address'].rstrip('/')}/sign-in/{token}/")


def _person(username: str | None, role: str | None) -> User:
    if username is None:
        return first_start.first_admin()
    if role is not None:
        return _with_role(username, role)
    person = User.objects.filter(username=username).first()
    if person is None:
        raise CommandError(
            f"Nobody is called {username!r}. To let someone new in, name a role too: "
            f"python manage.py sign_in_link {username} --role viewer"
        )
    if not person.is_active:
        raise CommandError(f"{username!r} is switched off and cannot sign in.")
    return person


def _with_role(username: str, role: str) -> User:
    person = User.objects.filter(username=username).first()
    if person is None:
        person = User.objects.create_user(username)
    group, _ = Group.objects.get_or_create(name=role)
    person.groups.remove(*person.groups.filter(name__in=ROLES))
    person.groups.add(group)
    return person
