"""Imports as rows with a lease."""

from __future__ import annotations

import json
import logging
import uuid
from pathlib import Path

import pytest
from django.db import DatabaseError

from compaction import wiring
from compaction.models import Conversation, ImportJob, Message, OperatorAction
from compaction.services.imports import files, jobs
from compaction.services.imports.jobs import (
    UploadRefused,
    cancel_import,
    perform_import,
    queue_home,
    queue_upload,
)
from compaction.services.leases import claim
from tests.shared_data import HERMES_STATE, needs

pytestmark = pytest.mark.django_db(transaction=True)

TALK = json.dumps(
    {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant"}]}
).encode()


@pytest.fixture
def folder(settings, tmp_path):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    return settings.UPLOAD_DIR


def queue(raw=TALK, label="talk.json", operator=None):
    return queue_upload([raw], label=label, operator=operator)


def reload(job):
    return ImportJob.objects.get(pk=job.pk)


def test_an_upload_is_kept_imported_and_deleted(folder, operator):
    job = queue(operator=operator)
    assert [path.name for path in folder.iterdir()] == [job.pk.hex]

    perform_import(job.pk)

    job = reload(job)
    assert (job.status, job.format) == ("completed", "openai_messages")
    assert (job.conversations_new, job.messages_done) == (1, 2)
    assert job.finished_at is not None
    assert list(folder.iterdir()) == []
    assert OperatorAction.objects.get().operator == operator
    assert Conversation.objects.get().imported_from == "talk.json"


def test_a_second_wake_up_finds_nothing_to_do(folder):
    job = queue()
    perform_import(job.pk)
    finished = reload(job).finished_at

    perform_import(job.pk)

    assert reload(job).finished_at == finished
    assert reload(job).attempt == 1


def test_an_unknown_job_is_nothing_to_do():
    perform_import(uuid.uuid4())


def test_a_broken_file_fails_with_line_and_reason_and_is_deleted(folder):
    good = b'{"role": "user", "content": "a"}\n'
    job = queue(good + b'{"role": "user", "cont\n' + good, label="cut.jsonl")

    perform_import(job.pk)

    job = reload(job)
    assert (job.status, job.reason, job.error_line) == ("failed", "broken", 2)
    assert not Conversation.objects.exists()
    assert list(folder.iterdir()) == []


def test_a_fault_of_our_own_fails_the_job_and_says_so(folder, monkeypatch, caplog):
    def break_down(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(jobs, "import_file", break_down)
    job = queue()
    with caplog.at_level(logging.ERROR):
        perform_import(job.pk)

    job = reload(job)
    assert (job.status, job.reason, job.error) == (
        "failed",
        "internal",
        "ZeroDivisionError",
    )
    assert "ZeroDivisionError" in caplog.text


def test_a_database_that_fails_leaves_the_job_for_another_worker(folder, monkeypatch):
    real = files.import_file

    def break_down(*_, **__):
        raise DatabaseError("server closed the connection")

    monkeypatch.setattr(jobs, "import_file", break_down)
    job = queue()
    with pytest.raises(DatabaseError):
        perform_import(job.pk)
    assert reload(job).status == "in_progress"
    assert len(list(folder.iterdir())) == 1

    monkeypatch.setattr(jobs, "import_file", real)
    ImportJob.objects.update(lease_until=job.queued_at)
    perform_import(job.pk)

    assert reload(job).status == "completed"
    assert Message.objects.count() == 2


def test_who_lost_the_lease_writes_no_end(folder, monkeypatch):
    real = files.import_file

    def be_overtaken(*args, **facts):
        ImportJob.objects.update(lease_until=job.queued_at)
        assert claim(ImportJob, job.pk, terms=wiring.lease_limits())
        return real(*args, **facts)

    monkeypatch.setattr(jobs, "import_file", be_overtaken)
    job = queue()
    perform_import(job.pk)

    assert (reload(job).status, reload(job).attempt) == ("in_progress", 2)
    assert len(list(folder.iterdir())) == 1, "the other worker still needs the file"


def test_a_stopped_import_keeps_what_it_brought_in(folder, monkeypatch):
    real = files.import_file

    def be_stopped(*args, **facts):
        report = real(*args, **facts)
        assert cancel_import(job.pk)
        return report

    monkeypatch.setattr(jobs, "import_file", be_stopped)
    job = queue()
    perform_import(job.pk)

    assert reload(job).status == "cancelled"
    assert Conversation.objects.count() == 1
    assert list(folder.iterdir()) == []
    assert not cancel_import(job.pk)


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\logs\\a.jsonl", "a.jsonl"),
        ("", "upload"),
        ("a\x00b\ud800", "a␀b\ufffd"),
        ("x" * 900, "x" * 255),
    ],
)
def test_a_files_name_is_only_shown(folder, label, shown):
    job = queue(label=label)

    assert job.label == shown
    assert Path(job.path).parent == folder
    assert Path(job.path).name == job.pk.hex


def test_an_upload_above_the_limit_is_refused_and_not_kept(folder, settings):
    settings.UPLOAD_BYTES = 10

    with pytest.raises(UploadRefused) as refused:
        queue(b"x" * 11)

    assert (refused.value.reason, refused.value.limit) == ("too_large", 10)
    assert list(folder.iterdir()) == []
    assert not ImportJob.objects.exists()


def test_an_empty_upload_is_refused(folder):
    with pytest.raises(UploadRefused) as refused:
        queue(b"")

    assert refused.value.reason == "empty"
    assert list(folder.iterdir()) == []


def test_a_connection_that_breaks_off_leaves_no_file(folder):
    def chunks():
        yield b"half"
        raise OSError("reset by peer")

    with pytest.raises(OSError, match="reset"):
        queue_upload(chunks(), label="a", operator=None)

    assert list(folder.iterdir()) == []


@needs(HERMES_STATE)
def test_a_hermes_home_is_imported_only_when_told_to_and_stays(settings, tmp_path):
    home = tmp_path / "hermes"
    home.mkdir()
    sample = HERMES_STATE / "5_rotation_lineage_3_sessions.db"
    (home / "state.db").write_bytes(sample.read_bytes())
    settings.HERMES_HOME = home
    assert not Conversation.objects.exists()

    job = queue_home(home, operator=None)
    again = queue_home(home, operator=None)

    assert job == again
    perform_import(job.pk)
    assert reload(job).status == "completed"
    assert Conversation.objects.exists()
    assert (home / "state.db").read_bytes() == sample.read_bytes()


def test_no_other_file_of_the_machine_can_be_asked_for(tmp_path):
    (tmp_path / "state.db").write_bytes(b"SQLite format 3\x00")

    assert queue_home(tmp_path, operator=None) is None
    assert not ImportJob.objects.exists()
