"""Files, commands, errors and todos, from the tools of many agents."""

from __future__ import annotations

from typing import Any

import pytest

from compaction.engine.evidence.items import EvidenceKind, EvidenceStatus
from tests.engine.builders import assistant, user
from tests.engine.evidence.saying import found, ran, texts, used

FILE, COMMAND, ERROR, TODO = (
    EvidenceKind.FILE,
    EvidenceKind.COMMAND,
    EvidenceKind.ERROR,
    EvidenceKind.TODO,
)


def notes(messages: Any, kind: EvidenceKind) -> dict[str, str]:
    return {item.text: item.note for item in found(messages, kind)}


@pytest.mark.parametrize(
    ("name", "arguments", "path", "note"),
    [
        ("read_file", {"path": "src/a.py"}, "src/a.py", "read"),
        ("Read", {"file_path": "/w/a.py"}, "/w/a.py", "read"),
        ("view_file", {"path": "a.py", "lines": [1, 9]}, "a.py", "read"),
        ("open", {"path": "a.py"}, "a.py", "read"),
        ("mcp__fs__read_text_file", {"path": "a.py"}, "a.py", "read"),
        ("write_file", {"path": "a.py", "content": "x"}, "a.py", "written"),
        ("Write", {"file_path": "a.py", "content": "x"}, "a.py", "written"),
        ("create", {"filename": "a.py"}, "a.py", "created"),
        ("Edit", {"file_path": "a.py", "old_string": "x"}, "a.py", "edited"),
        ("MultiEdit", {"file_path": "a.py", "edits": []}, "a.py", "edited"),
        ("edit", {"path": "a.py", "oldText": "x"}, "a.py", "edited"),
        ("patch", {"path": "a.py", "old_string": "x"}, "a.py", "edited"),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "a.py", "read"),
        (
            "str_replace_editor",
            {"command": "create", "path": "b.py"},
            "b.py",
            "created",
        ),
        (
            "str_replace_based_edit_tool",
            {"command": "str_replace", "path": "a.py"},
            "a.py",
            "edited",
        ),
        ("delete_file", {"target_file": "a.py"}, "a.py", "deleted"),
        (
            "move_file",
            {"source": "a.py", "destination": "b.py"},
            "a.py -> b.py",
            "moved",
        ),
        ("remove_document_file", {"path": "a.md"}, "a.md", "deleted"),
    ],
)
def test_a_tool_tells_what_it_did_to_a_file(
    name: str, arguments: dict[str, Any], path: str, note: str
):
    assert notes(used(name, arguments, "ok"), FILE) == {path: note}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat src/a.py", {"src/a.py": "read"}),
        ("sed -n '1,40p' src/a.py", {"src/a.py": "read"}),
        ("sed -i 's/a/b/' src/a.py", {"src/a.py": "edited"}),
        ("rm -rf build/out.txt", {"build/out.txt": "deleted"}),
        ("git rm old/x.py && git mv a.py b.py", None),
        ("mv a.py src/b.py", {"a.py -> src/b.py": "moved"}),
        ("cp a.py src/b.py", {"src/b.py": "created"}),
        ("touch notes.md", {"notes.md": "created"}),
        ("echo x > out/log.txt 2>&1", {"out/log.txt": "written"}),
        ("cat > conf/app.toml <<'EOF'\nrm -rf data/x.db\nEOF", None),
        ("ls -la && pwd", {}),
        ("pytest tests/test_a.py", {}),
    ],
)
def test_a_command_tells_what_it_did_to_files(
    command: str, expected: dict[str, str] | None
):
    seen = notes(ran(command, ""), FILE)

    if expected is None:
        assert "data/x.db" not in seen
        assert seen
    else:
        assert seen == expected


def test_a_patch_tells_its_files():
    patch = (
        "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n"
        "*** Add File: src/new.py\n+z\n*** Delete File: old.py\n*** End Patch"
    )

    by_tool = notes(used("apply_patch", {"input": patch}, "Done"), FILE)
    by_shell = notes(
        used(
            "shell", {"command": ["bash", "-lc", f"apply_patch <<'E'\n{patch}\nE"]}, ""
        ),
        FILE,
    )

    assert by_tool == by_shell
    assert by_tool == {
        "src/a.py": "edited",
        "src/new.py": "created",
        "old.py": "deleted",
    }


def test_what_was_done_to_one_file_adds_up():
    messages = [
        *used("read_file", {"path": "a.py"}, "x"),
        *used("edit_file", {"path": "a.py"}, "ok"),
        *used("edit_file", {"path": "a.py"}, "ok"),
    ]

    assert notes(messages, FILE) == {"a.py": "read, edited ×2"}


@pytest.mark.parametrize(
    ("output", "end"),
    [
        ("ok\nexit code: 0", "exit 0"),
        ('{"output": "boom\\n", "metadata": {"exit_code": 2}}', "exit 2"),
        ("<returncode>1</returncode>\n<output>no</output>", "exit 1"),
        ("Process exited with code 3", "exit 3"),
        ("===== 3 failed, 12 passed in 0.2s =====", "3 failed, 12 passed"),
        ("Traceback (most recent call last):\nValueError: x", "failed"),
        ("all quiet", "ran"),
    ],
)
def test_a_command_is_kept_with_its_end(output: str, end: str):
    assert notes(ran("make build", output), COMMAND)["make build"].endswith(end)


def test_a_command_that_ran_often_is_told_once_with_its_newest_end():
    messages = [*ran("make test", "exit code: 1"), *ran("make test", "exit code: 0")]

    assert notes(messages, COMMAND) == {"make test": "exit 0 (×2)"}


def test_looking_around_is_no_command_worth_keeping():
    assert texts([*ran("cd src && ls -la | head", "a.py")], COMMAND) == []


@pytest.mark.parametrize(
    "line",
    [
        "ValueError: bad token near line 17",
        "django.db.utils.OperationalError: database is locked",
        "error[E0308]: mismatched types",
        "src/a.ts(3,7): error TS2304: Cannot find name 'chalk'.",
        "fatal: not a git repository",
        "npm ERR! missing script: build",
        "bash: foo: command not found",
        "Connection refused by 10.0.0.3",
        "错误：无法连接数据库",
    ],
)
def test_an_error_line_is_kept_word_for_word(line: str):
    output = f"starting\n{line}\nstopped"

    assert line in texts([*ran("make run", output)], ERROR)


@pytest.mark.parametrize(
    "line",
    [
        "0 errors, 0 warnings",
        "    raise ValueError('bad token')",
        "except KeyError:",
        "class NotFoundError(Exception):",
    ],
)
def test_code_and_good_news_are_no_errors(line: str):
    assert texts(used("read_file", {"path": "a.py"}, line), ERROR) == []


def test_an_error_whose_command_succeeded_later_is_resolved():
    messages = [
        *ran("make test", "ValueError: bad token\nexit code: 1"),
        *used("edit_file", {"path": "a.py"}, "ok"),
        *ran("make test", "all fine\nexit code: 0"),
    ]

    (error,) = found(messages, ERROR)
    assert error.status is EvidenceStatus.RESOLVED


# todos


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("TodoWrite", {"todos": [{"content": "write docs", "status": "pending"}]}),
        ("todo_write", {"items": [{"id": 1, "subject": "write docs"}]}),
        ("update_plan", {"plan": [{"step": "write docs", "status": "pending"}]}),
    ],
)
def test_an_open_todo_is_kept(name: str, arguments: dict[str, Any]):
    assert texts(used(name, arguments, "ok"), TODO) == ["write docs"]


@pytest.mark.parametrize(
    ("status", "result"),
    [
        ("completed", EvidenceStatus.RESOLVED),
        ("cancelled", EvidenceStatus.SUPERSEDED),
        ("in_progress", EvidenceStatus.LIVE),
    ],
)
def test_the_newest_status_of_a_todo_counts(status: str, result: EvidenceStatus):
    messages = [
        *used("todo_write", {"todos": [{"id": "1", "content": "write docs"}]}, "ok"),
        *used("todo_update", {"id": "1", "status": status}, "ok"),
    ]

    (todo,) = found(messages, TODO)
    assert todo.status is result


def test_check_boxes_are_todos():
    text = "Plan:\n- [x] read the code\n- [ ] write the parser\n- [~] test it"

    assert texts([assistant(text)], TODO, status=EvidenceStatus.LIVE) == [
        "write the parser",
        "test it",
    ]


def test_a_todo_that_somebody_says_is_done_is_closed():
    messages = [
        assistant("Still need to migrate the invoices table."),
        assistant("Migrated the invoices table successfully."),
    ]

    assert texts(messages, TODO, status=EvidenceStatus.LIVE) == []


def test_a_todo_that_the_user_calls_off_is_not_live():
    messages = [
        assistant("TODO: translate the invoices into French."),
        user("Skip the French invoices, nobody reads them."),
    ]

    assert texts(messages, TODO, status=EvidenceStatus.LIVE) == []
