"""Groups in which the fact stands in a tool's arguments or in what it printed."""

from __future__ import annotations

import json

from bench.quality import (
    phrasings_en as en,
    phrasings_tools as tools,
    phrasings_zh as zh,
)
from bench.quality.facts import Kind, Place, read_marked
from bench.quality.planter import Plant, Planter
from bench.quality.values import fill, make_path


def plant_todo_list(planter: Planter, _: int) -> Plant:
    """Write the agent's own list; the fact is open in it, or already done."""
    dice = planter.dice
    phrases = (*en.TODOS, *zh.TODOS)
    item, other = (read_marked(fill(dice.choice(phrases), dice))[1] for _ in range(2))
    is_ended = dice.random() < 0.4
    status = "completed" if is_ended else dice.choice(("pending", "in_progress"))
    todos = [{"content": item, "status": status}, {"content": other, "status": status}]
    dice.shuffle(todos)
    called = planter.call(dice.choice(("todo_write", "TodoWrite")), {"todos": todos})
    return Plant(
        messages=called + planter.result("Todos have been updated."),
        kind=Kind.TODO,
        place=Place.ARGUMENTS,
        text=item,
        is_ended=is_ended,
    )


def _from_result(planter: Planter, phrases: tuple[str, ...], kind: Kind) -> Plant:
    dice = planter.dice
    printed, text = read_marked(fill(dice.choice(phrases), dice))
    called = planter.shell(f"{fill('{name}', dice)} --verbose")
    if printed.startswith("{"):
        result = planter.result(printed)
    else:
        result = planter.result(planter.printed(printed))
    return Plant(
        messages=called + result, kind=kind, place=Place.RESULT, text=text, offset=1
    )


def plant_printed(planter: Planter, _: int) -> Plant:
    """Let a tool print an identifier."""
    return _from_result(planter, tools.PRINTED, Kind.IDENTIFIER)


def plant_error(planter: Planter, _: int) -> Plant:
    """Let a tool fail."""
    return _from_result(planter, tools.ERRORS, Kind.ERROR)


def plant_file(planter: Planter, _: int) -> Plant:
    """Let the agent do something with a file that it does nothing else with."""
    dice = planter.dice
    path = make_path(dice)
    given = dice.choice((path, path, f"/srv/checkout/{path}"))
    name, arguments = dice.choice(_ACTIONS)
    called = planter.call(
        name, {key: value.replace("@", given) for key, value in arguments.items()}
    )
    result = planter.output() if "ead" in name else "ok"
    return Plant(
        messages=called + planter.result(result),
        kind=Kind.FILE,
        place=Place.ARGUMENTS,
        text=path,
    )


_ACTIONS: tuple[tuple[str, dict[str, str]], ...] = (
    ("write_file", {"path": "@", "content": "print(1)\n" * 40}),
    ("Write", {"file_path": "@", "content": "export const a = 1\n" * 9}),
    ("Edit", {"file_path": "@", "old_string": "a = 1", "new_string": "a = 2"}),
    ("str_replace_editor", {"command": "create", "path": "@", "file_text": "x\n" * 30}),
    ("apply_patch", {"input": "*** Begin Patch\n*** Update File: @\n@@\n-a\n+b\n"}),
    ("patch", {"path": "@", "diff": "@@ -1 +1 @@\n-a\n+b\n"}),
    ("terminal", {"command": "rm -f @"}),
    ("Bash", {"command": "git rm -q @ && git status --short"}),
    ("terminal", {"command": "mv notes.txt @"}),
    ("Bash", {"command": "cat > @ <<'END'\nkey: 1\nEND"}),
    ("run_shell", {"cmd": "sed -i s/a/b/ @"}),
    ("read_file", {"path": "@"}),
    ("Read", {"file_path": "@"}),
)


def plant_argument(planter: Planter, _: int) -> Plant:
    """Give a tool a value deep in its arguments."""
    dice = planter.dice
    raw, text = read_marked(fill(dice.choice(tools.ARGUMENTS), dice))
    json.loads(raw)  # the phrasings are JSON
    called = planter.call(dice.choice(tools.DEEP_TOOLS), raw)
    return Plant(
        messages=called + planter.result('{"accepted": true}'),
        kind=Kind.ARGUMENT,
        place=Place.ARGUMENTS,
        text=text,
    )


def plant_command(planter: Planter, _: int) -> Plant:
    """Run a command that says how it ended."""
    dice = planter.dice
    command = fill(dice.choice(tools.COMMANDS), dice)
    code = dice.choice((0, 1, 2, 101))
    output = planter.output()[:1_500]
    endings = (
        f"{output}\nexit code: {code}",
        json.dumps({"output": output, "exit_code": code}),
        f"{output}\n[exit {code}]",
    )
    return Plant(
        messages=planter.shell(command) + planter.result(dice.choice(endings)),
        kind=Kind.COMMAND,
        place=Place.ARGUMENTS,
        text=command,
    )
