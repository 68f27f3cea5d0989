"""Reading the environment: small pure pieces from which settings are made."""

from __future__ import annotations

import os
import secrets
import tempfile
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

SQLITE_OPTIONS: dict[str, Any] = {
    # IMMEDIATE takes the write lock at BEGIN, so two writers queue instead of
    # failing with "database is locked" in the middle of a transaction.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
        "PRAGMA busy_timeout=20000; PRAGMA cache_size=-20000; "
        "PRAGMA temp_store=MEMORY;"
    ),
}
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"", "0", "false", "no", "off"}


def read_flag(name: str, default: str = "") -> bool:
    """Return a yes/no variable; anything else is refused by name."""
    value = os.environ.get(name, default).strip().lower()
    if value in _TRUE | _FALSE:
        return value in _TRUE
    raise ImproperlyConfigured(f"{name} is {value!r}; write 1 or 0.")


def read_number(name: str, default: float) -> float:
    """Return a variable that must be a number above zero."""
    text = os.environ.get(name, "").strip()
    try:
        number = float(text) if text else default
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ImproperlyConfigured(f"{name} is {text!r}; write a number above 0.")
    return number


def read_price(name: str) -> Decimal | None:
    """Return a variable that is a sum of money, None when it is not set."""
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    try:
        price = Decimal(text)
    except InvalidOperation:
        price = Decimal("nan")
    if not price.is_finite() or price < 0:
        raise ImproperlyConfigured(f"{name} is {text!r}; write a price such as 0.25.")
    return price


def read_list(name: str, default: str = "") -> list[str]:
    """Return a comma-separated variable as a list without empty parts."""
    parts = os.environ.get(name, default).split(",")
    return [part.strip() for part in parts if part.strip()]


def make_folder(path: Path) -> Path:
    """Make a folder with its parents; say in one sentence why it cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The folder {path} cannot be made ({error.strerror}). Make it "
            "writable, or set HERMES_WEB_DATA to a folder that is."
        ) from error
    return path


def keep_secret(path: Path) -> str:
    """Return the secret kept in `path`, made on first use.

    The file appears whole or not at all: two processes that start together
    read the same secret.
    """
    if not path.exists():
        _write_once(path, secrets.token_urlsafe(50))
    return path.read_text(encoding="ascii").strip()


def _write_once(path: Path, text: str) -> None:
    make_folder(path.parent)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The secret key cannot be kept in {path} ({error.strerror}). Make "
            "the folder writable, or set SECRET_KEY."
        ) from error
    draft = Path(name)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # another process was first; its secret counts
    finally:
        draft.unlink()


def database(url: str) -> dict[str, Any]:
    """Return the Django database entry for a `DATABASE_URL`.

    Connections are not kept between requests: under ASGI each thread would
    hold one for ever.
    """
    if not url.startswith(("sqlite:///", "postgres://", "postgresql://")):
        # The value is not repeated: it may hold a password.
        raise ImproperlyConfigured(
            "DATABASE_URL must begin with postgresql:// or sqlite:///, for example "
            "postgresql://console@127.0.0.1:5432/console."
        )
    config: dict[str, Any] = dict(dj_database_url.parse(url))
    if url.startswith("sqlite:"):
        config["OPTIONS"] = {**SQLITE_OPTIONS, **config.get("OPTIONS", {})}
    return config


def broker_options(url: str, folder: Path) -> dict[str, Any]:
    """Return the transport options for a `CELERY_BROKER_URL`.

    The file broker needs its folders, which must exist, and a short polling
    interval (seconds), since its default of 1 s is felt. A server that is down is
    not asked again while a person waits (six seconds by default): the row is
    stored, and the sweeper wakes a worker later.
    """
    if not url.startswith("filesystem:"):
        return {"max_retries": 0}
    queue = str(make_folder(folder / "queue"))
    return {
        "data_folder_in": queue,
        "data_folder_out": queue,
        "processed_folder": str(make_folder(folder / "processed")),
        "control_folder": str(make_folder(folder / "control")),
        "store_processed": False,
        "polling_interval": 0.05,
    }
