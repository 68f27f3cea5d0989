"""Importing from the command line."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from compaction.engine.messages import to_dict
from compaction.management.commands.import_sessions import Progress
from compaction.models import Conversation
from compaction.services.imports.files import ImportReport
from tests.engine.builders import long_conversation, user
from tests.shared_data import HERMES_STATE, needs

pytestmark = pytest.mark.django_db


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def write(path, messages):
    path.write_text(json.dumps([to_dict(m) for m in messages]))
    return path


def run(*paths, **streams):
    out = io.StringIO()
    call_command("import_sessions", *map(str, paths), stdout=out, **streams)
    return out.getvalue()


def test_a_file_becomes_conversations(tmp_path):
    log = write(tmp_path / "a.json", long_conversation())

    assert "1 new conversations, 28 messages added" in run(log)
    assert Conversation.objects.get().message_count == 28


def test_twice_changes_nothing_and_says_so(tmp_path):
    log = write(tmp_path / "a.json", long_conversation())
    run(log)

    assert "1 unchanged conversations, 0 messages added" in run(log)


def test_a_grown_file_appends(tmp_path):
    log = write(tmp_path / "a.json", long_conversation())
    run(log)
    write(log, [*long_conversation(), user("And now?")])

    assert "1 grown conversations, 1 messages added" in run(log)
    assert Conversation.objects.get().message_count == 29


def test_a_broken_file_is_named_and_the_others_are_imported(tmp_path):
    good = write(tmp_path / "a.json", long_conversation())
    bad = tmp_path / "b.json"
    bad.write_text('{"messages": [\n{"role": ')
    errors = io.StringIO()

    with pytest.raises(CommandError, match="1 of 2 files"):
        run(bad, good, stderr=errors)

    assert "b.json, line 2" in errors.getvalue()
    assert Conversation.objects.count() == 1


def test_a_terminal_sees_a_bar_that_fills():
    terminal = Terminal()
    progress = Progress(terminal, "a.json", 200)
    for done in (50, 100, 200):
        progress.show(ImportReport(label="a.json", measured=done))
    progress.close()

    assert "[###############---------------] 100 of 200" in terminal.getvalue()
    assert "200 of 200 messages" in terminal.getvalue()


def test_without_a_terminal_there_is_no_bar():
    out = io.StringIO()
    Progress(out, "a.json", 200).show(ImportReport(label="a.json", measured=100))

    assert out.getvalue() == ""


@needs(HERMES_STATE)
def test_a_real_lineage_is_one_conversation_of_three_sessions():
    run(HERMES_STATE / "5_rotation_lineage_3_sessions.db")

    conversation = Conversation.objects.get()
    assert conversation.session_count == 3
    assert conversation.tip.title == "Fix login bug #3"
