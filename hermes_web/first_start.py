"""What must be true before the console can be started; each step repeatable."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command, get_commands
from django.core.management.base import CommandError
from django.db import DatabaseError

from compaction.services.roles import Role, ensure_roles, give_role

_WHY = {errno.EADDRINUSE: "is in use", errno.EACCES: "needs more rights"}


def require_free_address(host: str, port: int) -> None:
    """Refuse an address that the web server could not listen on."""
    if not 0 < port < 65536:
        raise CommandError(f"PORT {port} is not a port: write 1 to 65535.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except socket.gaierror as error:
        raise CommandError(
            f"HOST {host!r} is not an address of this machine ({error.strerror}). "
            "Try: make run HOST=127.0.0.1"
        ) from error
    except OSError as error:
        why = _WHY.get(error.errno or 0, f"cannot be used ({error})")
        raise CommandError(
            f"Port {port} on {host} {why}. "
            f"Choose another: make run PORT={port % 65535 + 1}"
        ) from error


def prepare_database() -> None:
    """Bring the tables up to date."""
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        place = settings.DATABASES["default"]["NAME"]
        raise CommandError(
            f"The database {place} cannot be used: {str(error).strip()}. Check that it "
            "runs and may be written (DATABASE_URL, HERMES_WEB_DATA); nothing was lost."
        ) from error


def collect_static_files() -> None:
    """Put style, script and fonts where the web server finds them."""
    try:
        call_command("collectstatic", interactive=False, verbosity=0)
    except OSError as error:
        raise CommandError(
            f"The folder {settings.STATIC_ROOT} cannot be written ({error.strerror}). "
            "Make it writable, or set HERMES_WEB_DATA to a folder that is."
        ) from error


def load_demo_once() -> bool:
    """Load the invented conversations on the first start; tell whether it did.

    A mark beside the database keeps deleted demo conversations deleted.
    """
    mark = Path(settings.DATA_DIR) / "demo_loaded"
    if mark.exists() or "seed_demo" not in get_commands():
        return False
    call_command("seed_demo", verbosity=0)
    mark.touch()
    return True


def first_admin() -> User:
    """Return the admin that the printed link signs in, made when there is none.

    No password is set: links are the way in until the admin chooses one.
    """
    admins = ensure_roles()[Role.ADMIN].user_set.filter(is_active=True)
    return admins.order_by("pk").first() or _make_admin()


def _make_admin() -> User:
    admin = User.objects.filter(username="admin").first()
    admin = admin or User.objects.create_user("admin")
    if not admin.is_active:
        raise CommandError(
            "The only admin is switched off. Let another one in: "
            "python manage.py sign_in_link NAME --role admin"
        )
    give_role(admin, Role.ADMIN)
    return admin
