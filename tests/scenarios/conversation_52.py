"""The 52 messages of article 000's worked example, built so that its figures hold.

The article counts 150,000 tokens for the request; 16,500 of them are tool schemas, or
its own sums (8,000 pruned, 80,000 in the middle, 21,000 in the tail, 45,000 at the
end) could not all be true. Message 2 makes a second call whose result comes in the
middle; message 34 makes three whose results come one message too late.
"""

from __future__ import annotations

from collections.abc import Sequence

from compaction.engine.messages import Message, Role, ToolCall

TOOL_SCHEMA_TOKENS = 16_500


def _content(tokens: int) -> str:
    """Text that the article's estimate counts as this many tokens, 10 for the turn."""
    return "a" * ((tokens - 10) * 4)


def _say(role: Role, tokens: int) -> Message:
    return Message(role=role, content=_content(tokens))


def _ask(tokens: int, ids: Sequence[str], *, args_tokens: int = 0) -> Message:
    each = "a" * (args_tokens * 4 // len(ids))
    calls = tuple(ToolCall(id=i, name="read_file", arguments=each) for i in ids)
    return Message(role=Role.ASSISTANT, content=_content(tokens), tool_calls=calls)


def _answer(call_id: str, tokens: int) -> Message:
    return Message(role=Role.TOOL, content=_content(tokens), tool_call_id=call_id)


def build() -> list[Message]:
    """Head 0 … 3, middle 4 … 34, tail 35 … 51."""
    return [*_head(), *_middle(), *_tail()]


def _head() -> list[Message]:
    return [
        _say(Role.SYSTEM, 24_500),
        Message(role=Role.USER, content="Fix the bug in app.py"),
        _ask(300, ["h1", "h2"]),
        _answer("h1", 689),
    ]


def _middle() -> list[Message]:
    pairs = [_say(Role.ASSISTANT, 3_718), _answer("h2", 689)]
    for number in range(10):
        pairs += [_ask(3_718, [f"m{number}"]), _answer(f"m{number}", 689)]
    talk = [_say(r, 3_718) for r in (Role.USER, Role.ASSISTANT) * 4]
    return [*pairs, *talk, _ask(30, ["o1", "o2", "o3"], args_tokens=9_102)]


def _tail() -> list[Message]:
    late = [_answer(f"o{number}", 1_141) for number in (1, 2, 3)]
    work: list[Message] = []
    for number in range(5):
        work += [_ask(1_141, [f"t{number}"], args_tokens=320)]
        work += [_answer(f"t{number}", 1_141)]
    end = [Role.ASSISTANT, Role.USER, Role.ASSISTANT]
    return [_say(Role.ASSISTANT, 1_141), *late, *work, *(_say(r, 1_141) for r in end)]
