"""Conversations to measure with: made from a seed, shaped like those of real agents.

In the logs of real agents nearly half of the messages are tool results, they hold
most of the text, half of them are short and some are very long; a user speaks now and
then. Text is cut from a pool, so that making it costs little.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from compaction.engine.messages import Message, from_dict

SEED = 20_883
_POOL_CHARS = 400_000

_PROSE = (
    "the agent reads a file and the test still fails because value in config was "
    "never set so we try again with another server name then wait for the build "
    "to pass before we merge this branch into main please check that user records "
    "are kept after migration since index on table messages grew too large while "
    "worker holds lock on queue of retry requests error count path result line "
    "module function returns none when token has expired but cache key is stale"
)
_WORDS = _PROSE.split()
_NAMES = (
    *("config", "server", "models", "views", "queue", "worker", "billing", "report"),
    *("search", "ledger", "session", "upload", "parser", "index", "retry", "schema"),
)
_COMMANDS = ("cat", "pytest -q", "ls -la", "git diff", "rg -n TODO", "sed -n 1,80p")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How many messages, and how many characters one has on average."""

    messages: int
    chars: int


class Conversation:
    """One input in the shapes that the two sides read: dicts, our messages, a file."""

    def __init__(self, shape: Shape, file: Path) -> None:
        self.shape = shape
        self._file = file

    @cached_property
    def dicts(self) -> list[dict[str, Any]]:
        """The messages in the OpenAI chat format."""
        return list(make_messages(self.shape))

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The same messages as the engine holds them."""
        return tuple(map(from_dict, self.dicts))

    @cached_property
    def file(self) -> Path:
        """The same messages as a JSON file, for another process."""
        self._file.write_text(json.dumps(self.dicts), encoding="utf-8")
        return self._file


def make_messages(shape: Shape, seed: int = SEED) -> Iterator[dict[str, Any]]:
    """Make a conversation; the same shape and seed give the same messages."""
    dice = random.Random(seed)
    prose = Pool(dice, make_prose)
    output = Pool(dice, make_output)
    turns = _turns(dice, prose, output, shape.chars)
    return islice(turns, shape.messages)


_Make = Callable[[random.Random, int], str]


class Pool:
    """A long text that others are cut from."""

    def __init__(self, dice: random.Random, make: _Make) -> None:
        self._dice = dice
        self._text = make(dice, _POOL_CHARS)

    def cut(self, mean: float) -> str:
        """Cut a text; half of them shorter than the mean, a few many times longer."""
        longest = mean if self._dice.random() < 0.5 else 3 * mean
        chars = min(_POOL_CHARS, 1 + int(self._dice.uniform(0.1, 1) * longest))
        start = self._dice.randrange(_POOL_CHARS - chars + 1)
        return self._text[start : start + chars]


def _turns(
    dice: random.Random, prose: Pool, output: Pool, chars: int
) -> Iterator[dict[str, Any]]:
    """A system prompt, then requests, each with some rounds of tools and a reply."""
    yield {"role": "system", "content": prose.cut(2 * chars)}
    rounds = 0
    while True:
        yield {"role": "user", "content": prose.cut(chars)}
        for _ in range(dice.randint(2, 16)):
            rounds += 1
            yield _call(dice, prose.cut(0.35 * chars), f"call_{rounds}")
            yield {
                "role": "tool",
                "tool_call_id": f"call_{rounds}",
                "content": output.cut(1.4 * chars),
            }
        yield {"role": "assistant", "content": prose.cut(chars)}


def _call(dice: random.Random, text: str, call_id: str) -> dict[str, Any]:
    command = f"{dice.choice(_COMMANDS)} src/{dice.choice(_NAMES)}.py"
    function = {"name": "terminal", "arguments": json.dumps({"command": command})}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": text, "tool_calls": [call]}


def make_prose(dice: random.Random, chars: int) -> str:
    """Make sentences of plain words."""
    words: list[str] = []
    length = 0
    while length < chars:
        word = dice.choice(_WORDS) + (". " if dice.random() < 0.08 else " ")
        words.append(word)
        length += len(word)
    return "".join(words)[:chars]


def make_output(dice: random.Random, chars: int) -> str:
    """Make what tools print: code, logs, listings, JSON."""
    lines: list[str] = []
    length = 0
    while length < chars:
        line = dice.choice(_LINES)(dice)
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[:chars]


def make_code(dice: random.Random, chars: int) -> str:
    """Make lines of a program, each at least 20 characters long."""
    return "\n".join(_code_line(dice) for _ in range(chars // 20 + 1))[:chars]


def _code_line(dice: random.Random) -> str:
    indent = "    " * dice.randint(0, 3)
    name, other = dice.choice(_NAMES), dice.choice(_NAMES)
    return dice.choice(
        (
            f"{indent}def load_{name}(self, {other}_id: int) -> list[str]:",
            f"{indent}return self.{name}.get({other}, default={dice.randint(0, 99)})",
            f"{indent}if {name} is not None and len({other}) > {dice.randint(1, 9)}:",
            f"{indent}# {make_prose(dice, 50)}",
            f'{indent}raise ValueError(f"{name} must not be {{{other}!r}}")',
        )
    )


def _log_line(dice: random.Random) -> str:
    at = f"2026-11-{dice.randint(1, 30):02d} {dice.randint(0, 23):02d}:14:55"
    return f"{at} INFO {dice.choice(_NAMES)}: {make_prose(dice, 60)}"


def _listing_line(dice: random.Random) -> str:
    size = dice.randint(100, 99_999)
    return f"-rw-r--r-- 1 app app {size:>6} Nov 12 09:31 {dice.choice(_NAMES)}.py"


def _json_line(dice: random.Random) -> str:
    return json.dumps(
        {
            "id": dice.randint(1, 9_999),
            "name": dice.choice(_NAMES),
            "url": f"https://example.org/{dice.choice(_NAMES)}?page=2",
            "digest": f"{dice.getrandbits(128):032x}",
        }
    )


def _failed_line(dice: random.Random) -> str:
    return (
        f"FAILED tests/test_{dice.choice(_NAMES)}.py::test_{dice.choice(_NAMES)} - "
        f"AssertionError: assert {dice.randint(0, 9)} == {dice.randint(10, 99)}"
    )


def _secret_line(dice: random.Random) -> str:
    return f"export API_KEY=sk-{dice.getrandbits(160):040x}"


_LINES = (
    *(_code_line,) * 160,
    *(_log_line,) * 120,
    *(_listing_line,) * 48,
    *(_json_line,) * 48,
    *(_failed_line,) * 20,
    _secret_line,
)
