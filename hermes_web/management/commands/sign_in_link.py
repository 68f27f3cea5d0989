"""Print a one-time sign-in link; the way to let a new person in."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from compaction.services.roles import Role, give_role
from compaction.services.sign_in import issue_sign_in_token
from hermes_web import first_start


class Command(BaseCommand):
    """Print a link that signs one person in, once, within ten minutes."""

    help = (
        "Print a sign-in link, valid once and for ten minutes. With --role, the "
        "person is made when new, and has that role from then on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the person, a role, and the address the console is reached at."""
        parser.add_argument("username", nargs="?", help="default: the first admin")
        parser.add_argument("--role", choices=[str(role) for role in Role])
        parser.add_argument("--address", default="http://127.0.0.1:8000")

    def handle(self, *args: Any, **options: Any) -> None:
        """Issue the token and print the link."""
        token = issue_sign_in_token(_person(options["username"], options["role"]))
        self.stdout.write(f"{options['address'].rstrip('/')}/sign-in/{token}/")


def _person(username: str | None, role: str | None) -> User:
    if username is None:
        return first_start.first_admin()
    person = _named(username, make=role is not None)
    if not person.is_active:
        raise CommandError(f"{username!r} is switched off and cannot sign in.")
    if role is not None:
        give_role(person, Role(role))
    return person


def _named(username: str, *, make: bool) -> User:
    person = User.objects.filter(username=username).first()
    if person is None and not make:
        raise CommandError(
            f"Nobody is called {username!r}. To let someone new in, name a role too: "
            f"python manage.py sign_in_link {username} --role viewer"
        )
    return person or User.objects.create_user(username)
