"""The long task that the demo model works on: read one file after another, report.

Each step follows from the request alone: the same request leads to the same answer.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping

from compaction.engine.task_state import OPEN, TodoStatus
from compaction.management.demo_model.answers import Answer, Call
from compaction.management.demo_model.reading import Asked, Item
from compaction.management.demo_model.words import chapter, report

Named = tuple[str, Mapping[str, object]]
"""A call: the tool and its arguments."""

FILES = 7
"""How many files of a folder it reads at most."""
CHAPTERS = tuple(f"Write chapter {number} of the handbook" for number in range(1, 7))
REPORT = "Report what was found"
_READ = "Read "
_NAMED = re.compile(r"^(\S.{0,200})  ([\d,]{1,15}) B$", re.MULTILINE)
_MOST_BYTES = 12_000  # a longer file fills a small window by itself
_GOAL_CHARS = 300


def next_step(asked: Asked) -> Answer:
    """Return the next step of the task."""
    if _is_new(asked):
        return _begin(asked)
    if asked.goal and not _is_planned(asked):
        return _plan(asked)
    return _work(asked)


def goal_of(asked: Asked) -> str:
    """The goal that a message of the user leads to, in one line."""
    return " ".join(asked.user.split())[:_GOAL_CHARS] or "Look around and report."


def _is_new(asked: Asked) -> bool:
    """True when the user asks for something that is not the goal yet."""
    if any(item.status in OPEN for item in asked.items):
        return False
    return asked.goal != goal_of(asked) and "task_set_goal" not in asked.done


def _begin(asked: Asked) -> Answer:
    calls: list[Named] = [("task_set_goal", {"goal": goal_of(asked)})]
    if "list_files" in asked.tools:
        calls.append(("list_files", {}))
    return _answer(asked, "I set the goal and look at what there is.", calls)


def _is_planned(asked: Asked) -> bool:
    """True when the todos on the list belong to this goal."""
    if any(item.status in OPEN for item in asked.items):
        return True
    was_changed = {"todo_write", "todo_update"} & asked.done.keys()
    return bool(asked.items) and (bool(was_changed) or asked.is_summarised)


def _plan(asked: Asked) -> Answer:
    found = _files(asked.done.get("list_files", ""))
    if not found and "list_files" in asked.tools and "list_files" not in asked.done:
        return _answer(asked, "I look at what there is.", [("list_files", {})])
    wanted = [_READ + name for name in found[:FILES]] or list(CHAPTERS)
    items = [
        {"id": str(number), "subject": subject, "status": "pending"}
        for number, subject in enumerate([*wanted, REPORT], 1)
    ]
    said = f"There are {len(items)} things to do; I write them down."
    return _answer(asked, said, [("todo_write", {"items": items})])


def _files(listing: str) -> list[str]:
    sizes = {n: int(size.replace(",", "")) for n, size in _NAMED.findall(listing)}
    small = [name for name, size in sizes.items() if size <= _MOST_BYTES]
    return small or list(sizes)


def _work(asked: Asked) -> Answer:
    """Finish what is in progress and begin what is next, in one answer."""
    current = _first(asked, TodoStatus.IN_PROGRESS)
    following = _first(asked, TodoStatus.PENDING)
    calls: list[Named] = []
    said = []
    if current is not None:
        said.append(f"Done: {current.subject}.")
        calls += _finish(asked, current)
    if following is not None:
        said.append(f"Next: {following.subject}.")
        calls += _start(asked, following)
        if not following.subject.startswith((_READ, REPORT)):
            said.append(chapter(following.number, following.subject))
    if not calls:
        return Answer(text=report(asked.goal, [item.subject for item in asked.items]))
    return _answer(asked, "\n\n".join(said), calls)


def _first(asked: Asked, status: TodoStatus) -> Item | None:
    return next((item for item in asked.items if item.status is status), None)


def _finish(asked: Asked, item: Item) -> list[Named]:
    done: Named = ("todo_update", {"id": str(item.number), "status": "completed"})
    if "memory_write" not in asked.tools:
        return [done]
    return [done, ("memory_write", {"text": _fact(asked, item)})]


def _fact(asked: Asked, item: Item) -> str:
    """One line that is worth remembering: the first heading of what was read."""
    seen = asked.done.get("read_file", "") if item.subject.startswith(_READ) else ""
    lines = (line.strip("# ").strip() for line in seen.splitlines())
    first = next((line for line in lines if line), "")
    return f"{item.subject}: done." + (
        f" It begins with “{first[:120]}”." if first else ""
    )


def _start(asked: Asked, item: Item) -> list[Named]:
    status = "completed" if item.subject == REPORT else "in_progress"
    calls: list[Named] = [("todo_update", {"id": str(item.number), "status": status})]
    if item.subject.startswith(_READ) and "read_file" in asked.tools:
        calls.append(("read_file", {"path": item.subject.removeprefix(_READ)}))
    return calls


def _answer(asked: Asked, text: str, calls: list[Named]) -> Answer:
    """Give each call an id of its own, the same one for the same request."""
    seed = f"{asked.goal}\n{[(i.number, i.status.value) for i in asked.items]}{text}"
    base = hashlib.sha256(seed.encode()).hexdigest()[:16]
    numbered = zip(itertools.count(1), calls, strict=False)
    made = tuple(
        Call(id=f"call_{base}{number}", name=name, arguments=arguments)
        for number, (name, arguments) in numbered
    )
    return Answer(text=text, calls=made)
