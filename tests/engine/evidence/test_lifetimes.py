"""When a piece of evidence was told first, and what ended it."""

from __future__ import annotations

from compaction.engine.evidence.items import EvidenceKind, EvidenceStatus
from compaction.engine.messages import Message
from tests.engine.builders import assistant, user
from tests.engine.evidence.saying import found, ran, used


def test_a_file_that_is_read_twice_is_known_since_the_first_time() -> None:
    read = {"path": "src/a.py"}
    messages = [user("Look."), *used("read", read, "1"), *used("read", read, "1")]

    (file,) = found(messages, EvidenceKind.FILE)

    assert (file.first_position, file.position) == (1, 3)


def test_a_command_is_known_since_it_ran_first() -> None:
    messages = [*ran("pytest -q", "2 failed"), *ran("pytest -q", "2 passed")]

    (command,) = found(messages, EvidenceKind.COMMAND)

    assert (command.first_position, command.position) == (1, 3)


def test_an_error_ends_where_its_command_succeeds() -> None:
    messages = [
        *ran("make build", "ValueError: no such port 8471\nexit code: 2"),
        *ran("make build", "done\nexit code: 0"),
    ]

    (error, *_) = found(messages, EvidenceKind.ERROR)

    assert error.status is EvidenceStatus.RESOLVED
    assert error.ended_at == 3


def test_a_constraint_ends_at_the_message_that_changes_its_value() -> None:
    messages = [
        user("Build the importer. The port must be 8080."),
        assistant("Understood."),
        user("Actually, the port must be 9090 from now on."),
    ]

    older = found(messages, EvidenceKind.CONSTRAINT, status=EvidenceStatus.SUPERSEDED)

    assert [item.ended_at for item in older] == [2]


def test_a_todo_that_is_told_again_keeps_its_beginning() -> None:
    def planned(status: str) -> list[Message]:
        entry = {"content": "write the importer", "status": status}
        return used("todo", {"todos": [entry]}, "ok")

    (todo,) = found([*planned("pending"), *planned("completed")], EvidenceKind.TODO)

    assert (todo.first_position, todo.position) == (0, 2)
    assert todo.status is EvidenceStatus.RESOLVED
