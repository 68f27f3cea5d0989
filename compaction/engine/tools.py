"""The tools of the console's own agent: what the model is told, and what it may send.

Pure: reading and refusing arguments. What a tool does is done in services/tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.engine.messages import ToolCall
from compaction.engine.task_state import TOOLS as TASK_TOOLS
from compaction.engine.tokens import TokenCounter


class ToolMistake(Exception):
    """A call that cannot be done; the text tells the model what to send instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool: its name, what it does, and the JSON schema of its arguments."""

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: Sequence[str] = ()

    @property
    def schema(self) -> Mapping[str, Any]:
        """What a provider is told."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": dict(self.properties),
                    "required": list(self.required),
                },
            },
        }


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _number(description: str) -> dict[str, Any]:
    return {"type": "integer", "description": description}


def _from_schema(schema: Mapping[str, Any]) -> ToolSpec:
    function = schema["function"]
    return ToolSpec(
        name=function["name"],
        description=function["description"],
        properties=function["parameters"]["properties"],
        required=function["parameters"]["required"],
    )


TASK = tuple(_from_schema(schema) for schema in TASK_TOOLS)
MEMORY = (
    ToolSpec(
        name="memory_write",
        description=(
            "Remember one fact for the whole conversation. It survives compactions "
            "and is shown to you with every request."
        ),
        properties={"text": _text("One fact in one or two sentences.")},
        required=("text",),
    ),
    ToolSpec(
        name="memory_read",
        description="Read everything that was remembered.",
        properties={},
    ),
)
RECALL = (
    ToolSpec(
        name="recall_search",
        description=(
            "Search earlier parts of this conversation that were compacted away. "
            "Returns places and the text around each hit."
        ),
        properties={
            "query": _text('Words that must all occur; "quoted" for a phrase.'),
            "limit": _number("How many places to return, at most 20."),
        },
        required=("query",),
    ),
    ToolSpec(
        name="recall_read",
        description="Read messages at a place that recall_search returned.",
        properties={
            "place": _text("A place as recall_search writes it."),
            "count": _number("How many messages to read from there on, at most 20."),
        },
        required=("place",),
    ),
)
FILES = (
    ToolSpec(
        name="list_files",
        description="List a folder of the project.",
        properties={"path": _text("Folder, relative; empty for the top.")},
    ),
    ToolSpec(
        name="read_file",
        description=(
            "Read a text file of the project. Long files are returned in part; go on "
            "with `line`."
        ),
        properties={
            "path": _text("File, relative to the top."),
            "line": _number("First line to return, from 1."),
        },
        required=("path",),
    ),
    ToolSpec(
        name="search_files",
        description="Find lines that contain a text in the files of the project.",
        properties={
            "text": _text("The text, as it stands; upper and lower case are equal."),
            "path": _text("Folder to search, relative; empty for all."),
        },
        required=("text",),
    ),
)

_TYPES: Mapping[str, tuple[type, str]] = {
    "string": (str, "a string"),
    "integer": (int, "a whole number"),
    "array": (list, "a list"),
}


def read_arguments(call: ToolCall, spec: ToolSpec) -> dict[str, Any]:
    """Read the arguments of a call; raises ToolMistake for what does not fit.

    What the tool does not know is left out, a null counts as absent.
    """
    try:
        raw = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        raise _mistake(spec, "The arguments are no valid JSON.") from None
    if not isinstance(raw, dict):
        raise _mistake(spec, "The arguments are no JSON object.")
    given = {name: raw[name] for name in spec.properties if raw.get(name) is not None}
    for name in spec.required:
        if name not in given:
            raise _mistake(spec, f"`{name}` is missing.")
    for name, value in given.items():
        wanted, words = _TYPES[spec.properties[name]["type"]]
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise _mistake(spec, f"`{name}` must be {words}.")
    return given


def _mistake(spec: ToolSpec, what: str) -> ToolMistake:
    wanted = ", ".join(f"`{name}`" for name in spec.properties) or "nothing"
    return ToolMistake(
        f"{spec.name} was not run. {what} Send one JSON object with {wanted}."
    )


def cap_tokens(text: str, limit: int, counter: TokenCounter, *, note: str = "") -> str:
    """Cut a text to at most `limit` tokens, `note` behind the cut included."""
    if len(text) <= limit or counter.count(text) <= limit:
        return text  # a character is a token at most
    ending = f"\n{note or '[cut here: the result was longer]'}"
    room = max(0, limit - counter.count(ending) - 1)
    while (tokens := counter.count(text)) > room and text:
        text = text[: min(len(text) - 1, int(len(text) * room / tokens))]
    return text + ending
