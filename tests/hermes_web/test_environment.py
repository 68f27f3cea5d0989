"""Variables mean what docs/operating.md says, and nonsense is refused by name."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from hermes_web import environment


@pytest.mark.parametrize(
    ("text", "meaning"),
    [("1", True), ("Yes", True), (" on ", True), ("0", False), ("", False)],
)
def test_a_flag_reads_common_spellings(monkeypatch, text, meaning):
    monkeypatch.setenv("A_FLAG", text)

    assert environment.read_flag("A_FLAG") is meaning


def test_a_flag_that_is_neither_yes_nor_no_is_refused_by_name(monkeypatch):
    monkeypatch.setenv("A_FLAG", "perhaps")

    with pytest.raises(ImproperlyConfigured, match="A_FLAG is 'perhaps'"):
        environment.read_flag("A_FLAG")


def test_a_number_falls_back_to_its_default(monkeypatch):
    monkeypatch.delenv("A_NUMBER", raising=False)

    assert environment.read_number("A_NUMBER", 30.0) == 30.0


def test_a_number_is_read(monkeypatch):
    monkeypatch.setenv("A_NUMBER", " 1.5 ")

    assert environment.read_number("A_NUMBER", 30.0) == 1.5


@pytest.mark.parametrize("text", ["soon", "0", "-1", "inf", "nan"])
def test_a_number_that_is_none_is_refused_by_name(monkeypatch, text):
    monkeypatch.setenv("A_NUMBER", text)

    with pytest.raises(ImproperlyConfigured, match=f"A_NUMBER is '{text}'"):
        environment.read_number("A_NUMBER", 30.0)


@pytest.mark.parametrize(
    ("text", "price"), [("", None), ("0.25", Decimal("0.25")), (" 2 ", Decimal(2))]
)
def test_a_price_is_read_exactly(monkeypatch, text, price):
    monkeypatch.setenv("A_PRICE", text)

    assert environment.read_price("A_PRICE") == price


@pytest.mark.parametrize("text", ["cheap", "-1", "nan", "inf"])
def test_a_price_that_is_none_is_refused_by_name(monkeypatch, text):
    monkeypatch.setenv("A_PRICE", text)

    with pytest.raises(ImproperlyConfigured, match=f"A_PRICE is '{text}'"):
        environment.read_price("A_PRICE")


def test_a_list_drops_spaces_and_empty_parts(monkeypatch):
    monkeypatch.setenv("A_LIST", "a, b,,c ,")

    assert environment.read_list("A_LIST") == ["a", "b", "c"]


def test_the_secret_is_kept_and_only_its_owner_may_read_it(tmp_path):
    path = tmp_path / "new" / "secret_key"

    first = environment.keep_secret(path)

    assert environment.keep_secret(path) == first
    assert len(first) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_processes_that_start_together_agree_on_the_secret(tmp_path):
    path = tmp_path / "secret_key"

    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(environment.keep_secret, [path] * 64))

    assert len(secrets) == 1


def test_a_folder_that_cannot_be_made_is_said_with_the_way_out():
    with pytest.raises(ImproperlyConfigured, match="set HERMES_WEB_DATA"):
        environment.make_folder(Path("/dev/null/console"))


def test_sqlite_queues_writers_instead_of_failing():
    config = environment.database("sqlite:////tmp/console.sqlite3")

    assert config["NAME"] == "/tmp/console.sqlite3"
    assert config["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in config["OPTIONS"]["init_command"]


def test_postgresql_gets_none_of_the_sqlite_options():
    config = environment.database("postgresql://ann:pw@db.example:5433/console")

    assert config["ENGINE"] == "django.db.backends.postgresql"
    assert (config["HOST"], config["PORT"], config["NAME"]) == (
        "db.example",
        5433,
        "console",
    )
    assert "init_command" not in config.get("OPTIONS", {})


@pytest.mark.parametrize("url", ["", "console.db", "mysql://root:hunter2@db/x"])
def test_another_database_is_refused_without_repeating_a_password(url):
    with pytest.raises(ImproperlyConfigured, match="must begin with") as caught:
        environment.database(url)

    assert "hunter2" not in str(caught.value)


def test_the_file_broker_gets_its_folders_and_a_short_wait(tmp_path):
    options = environment.broker_options("filesystem://localhost", tmp_path)

    folders = ["data_folder_in", "data_folder_out", "processed_folder"]
    assert all(Path(options[name]).is_dir() for name in [*folders, "control_folder"])
    assert options["polling_interval"] == 0.05
    assert options["store_processed"] is False


def test_a_broker_that_is_down_is_asked_once_and_needs_no_folders(tmp_path):
    options = environment.broker_options("redis://127.0.0.1:6379/0", tmp_path)

    assert options == {"max_retries": 0}
    assert list(tmp_path.iterdir()) == []
