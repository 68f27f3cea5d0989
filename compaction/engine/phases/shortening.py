"""How one message is shortened, without a model and without losing the message.

Only content is replaced, never the message, its role or its ids (article 003,
pitfall 1). The `fact` form says what ran, on what, how it ended and how large the
output was; the articles' form is a bare placeholder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction.engine.messages import Message, ToolCall, is_image, parts_of
from compaction.engine.policy import CompactionPolicy, PruneForm

PLACEHOLDERS: Mapping[str, str] = {
    "hermes": "[Old tool output cleared to save context space]",
    "tutorial": "[Old tool output cleared]",
}
FACT_ARROW = " -> "
"""Between what was asked and what came of it, in the line of a shortened result."""

DUPLICATE = "[same output as a later call of this tool]"
IMAGE_LABEL = "[image removed when the conversation was compacted]"
LEAF_CHARS = 200
"""Longest string that stays in shortened arguments, in characters."""

_MAIN_ARGUMENTS = (
    *("command", "cmd", "path", "file_path", "filename", "file", "target", "url"),
    *("query", "pattern", "q", "name", "id", "todo_id", "subject", "code"),
    *("prompt", "text"),
)
# Two patterns that begin with letters: such a search skips ahead, ten times as fast.
_CODE = r"[\"']?\s{0,3}[:= ]\s{0,3}(-?\d{1,5})\b"
_EXITS = (
    re.compile(rf"exit(?:_code|(?:ed)?(?: with)?(?: code| status)?){_CODE}"),
    re.compile(rf"return ?code{_CODE}"),
)


def _as_word(word: str) -> re.Pattern[str]:
    """Find a word that stands alone; Chinese words have no space around them."""
    return re.compile(rf"{word}(?<!\w{word})\b" if word.isascii() else word)


_STATUS = {
    word: _as_word(word)
    for word in (
        *("error", "failed", "failure", "denied", "not found", "timeout", "timed out"),
        *("time out", "exception", "traceback", "success", "successfully", "passed"),
        *("ok", "done", "created", "updated", "deleted", "失败", "错误", "成功"),
    )
}
_LOOK_CHARS = 2_000  # how far into either end of an output a status is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneOptions:
    """What `pruned_message` may do; characters."""

    form: PruneForm = PruneForm.FACT
    placeholder: str = PLACEHOLDERS["hermes"]
    min_chars: int = 200
    args_chars: int = 500


def options_of(policy: CompactionPolicy) -> PruneOptions:
    """Read the prune options out of a policy."""
    return PruneOptions(
        form=policy.prune_form,
        placeholder=PLACEHOLDERS[policy.template.value],
        min_chars=policy.prune_min_chars,
        args_chars=policy.prune_args_chars,
    )


DEFAULT_OPTIONS = PruneOptions()


def pruned_message(
    message: Message,
    *,
    call: ToolCall | None = None,
    options: PruneOptions = DEFAULT_OPTIONS,
) -> Message:
    """Return the shortened message, or the very same object when it stays."""
    if message.pinned:
        return message
    if message.is_result:
        return _prune_result(message, call, options)
    shorter = _prune_arguments(message, options.args_chars)
    return _prune_images(shorter) if shorter.image_count else shorter


def _prune_result(
    message: Message, call: ToolCall | None, options: PruneOptions
) -> Message:
    text = message.text
    if len(text) <= options.min_chars and not message.image_count:
        return message
    if options.form is PruneForm.PLACEHOLDER:
        return message.evolve(content=options.placeholder)
    fact = fact_line(text, call, str(message.extra.get("name") or ""))
    return message if len(fact) >= len(text) else message.evolve(content=fact)


def fact_line(text: str, call: ToolCall | None, name: str = "") -> str:
    """Say in one line what a tool result was: tool, argument, end, size."""
    tool = (call.name if call else "") or name or "tool"
    argument = main_argument(call.arguments) if call else ""
    lines = text.count("\n") + 1
    size = f"{lines:,} lines, {len(text):,} chars"
    parts = [part for part in (status_of(text), size) if part]
    subject = f" {argument}" if argument else ""
    return f"[{tool}]{subject}{FACT_ARROW}{', '.join(parts)}"


def status_of(text: str) -> str:
    """The exit code or status word of an output (hermes#112710), '' if none."""
    ends = _ends_of(text, _LOOK_CHARS).lower()
    codes = [found.group(1) for found in (e.search(ends) for e in _EXITS) if found]
    if codes:
        return f"exit {codes[0]}"
    return _word_of(_ends_of(ends, 400))


def _ends_of(text: str, chars: int) -> str:
    """Both ends of a text, each so many characters long; a short one whole."""
    if len(text) <= 2 * chars:
        return text
    return f"{text[:chars]}\n{text[-chars:]}"


def _word_of(text: str) -> str:
    near = [pattern.search(text) for word, pattern in _STATUS.items() if word in text]
    found = min(filter(None, near), key=lambda match: match.start(), default=None)
    return found.group(0) if found else ""


def main_argument(arguments: str) -> str:
    """The argument that tells a reader most, on one line, at most 120 characters."""
    values = _load_object(arguments)
    if values is None:
        return _one_line(arguments)
    for key in _MAIN_ARGUMENTS:
        value = values.get(key)
        if isinstance(value, str | int) and str(value).strip():
            return _one_line(str(value))
    return _one_line(json.dumps(values, ensure_ascii=False)) if values else ""


def _one_line(text: str, limit: int = 120) -> str:
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _load_object(arguments: str) -> dict[str, Any] | None:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _prune_arguments(message: Message, limit: int) -> Message:
    if not limit or all(len(call.arguments) <= limit for call in message.tool_calls):
        return message
    calls = tuple(_shorten_call(call, limit) for call in message.tool_calls)
    if calls == message.tool_calls:
        return message
    return message.evolve(tool_calls=calls)


def _shorten_call(call: ToolCall, limit: int) -> ToolCall:
    if len(call.arguments) <= limit:
        return call
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call  # broken JSON stays as it was (hermes#13574)
    short = json.dumps(_shorten_leaves(value), ensure_ascii=False)
    if len(short) >= len(call.arguments):
        return call
    return ToolCall(id=call.id, name=call.name, arguments=short, extra=call.extra)


def _shorten_leaves(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LEAF_CHARS:
        return f"{value[:LEAF_CHARS]}… [{len(value) - LEAF_CHARS:,} more characters]"
    if isinstance(value, dict):
        return {key: _shorten_leaves(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shorten_leaves(item) for item in value]
    return value


def _prune_images(message: Message) -> Message:
    parts = tuple(
        {"type": "text", "text": IMAGE_LABEL} if is_image(part) else part
        for part in parts_of(message.content)
    )
    return message.evolve(content=parts)
