"""Todos: from todo tools, from check boxes, from sentences that say what is left."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from compaction.engine.evidence import markers
from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.likeness import Likeness, telling_words
from compaction.engine.evidence.reading import CallSeen, Turn
from compaction.engine.evidence.tool_names import Act, act_of
from compaction.engine.evidence.wording import one_line

TODO_CHARS = 220
ASKED = "asked for"
"""The note of work that a user asked for."""

_BOX = re.compile(
    r"^[ \t]{0,16}(?:[-*+•]|\d{1,3}[.)])?[ \t]{0,4}\[(?P<mark>[ xX~>✓-])\][ \t]{1,4}"
    r"(?P<text>[^\n]{2,400})",
    re.MULTILINE,
)
COUNT_LEFT = "count left"
_COUNT_LEFT = re.compile(
    r"\b\d{1,6} (?:more )?(?:are|is|remain|still|left|to go)\b(?! (?:\w+ ){0,3}\w*:)"
    r"|(?:还剩|剩下|还有|剩余)\s?\d{1,6}\s?\w?(?![^，。；]*[:：])",
    re.IGNORECASE,
)
_NONE_LEFT = re.compile(
    r"(?<![\d.])0 (?:more )?(?:are|is|remain|still|left|to go)\b"
    r"|(?:还剩|剩下|还有|剩余)\s?0(?!\d)",
    re.IGNORECASE,
)
_TEXT_KEYS = ("content", "subject", "text", "title", "step", "task", "description")
_DONE = frozenset({"completed", "complete", "done", "finished", "closed", "x"})
_CALLED_OFF = frozenset({"cancelled", "canceled", "deleted", "removed", "skipped", "-"})
_STARTED = frozenset({"in_progress", "in-progress", "active", "doing", "started", "~"})


def extract_todos(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield todos in order; a later one with the same key tells its newest status."""
    ids: dict[str, str] = {}
    for turn in turns:
        for call in turn.calls:
            if act_of(call.name, call.arguments) is Act.TODO:
                yield from _of_tool(call, ids)
        if turn.is_assistant or turn.by_user:
            yield from _of_boxes(turn)
            yield from _of_sentences(turn)
    yield from _asked_for(turns)


def _of_tool(call: CallSeen, ids: dict[str, str]) -> Iterator[EvidenceItem]:
    for entry in _entries(call.arguments):
        text = next((str(entry[k]) for k in _TEXT_KEYS if entry.get(k)), "")
        number = str(entry.get("id") or entry.get("taskId") or "")
        text = text or ids.get(number, "")
        if number and text:
            ids[number] = text
        if text:
            state = str(entry.get("status") or entry.get("state") or "pending")
            yield _item(text, state.lower(), call.position, 1.0)


def _entries(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in ("todos", "items", "plan", "tasks", "todoList", "todo_list"):
        listed = arguments.get(name)
        if isinstance(listed, list):
            yield from (item for item in listed[:200] if isinstance(item, Mapping))
            return
    if "status" in arguments or "subject" in arguments:
        yield arguments


def _of_boxes(turn: Turn) -> Iterator[EvidenceItem]:
    for match in list(_BOX.finditer(turn.text))[:100]:
        mark = match["mark"].lower()
        state = {"✓": "x", ">": "~", " ": "pending"}.get(mark, mark)
        yield _item(match["text"], state, turn.position, 0.95)


def _of_sentences(turn: Turn) -> Iterator[EvidenceItem]:
    for sentence in turn.told[:200]:
        if len(sentence) <= 2 * TODO_CHARS and _is_todo(sentence):
            yield _item(sentence, "pending", turn.position, 0.8)


def _asked_for(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield the work that a user asked for; what the agent spoke of later is resolved.

    The first request is the goal, and told as such.
    """
    asked: list[tuple[Turn, str]] = []
    spoken_of: dict[int, int] = {}
    index = Likeness()
    for turn in turns:
        if turn.is_assistant and turn.told:
            for number in _spoken_of(turn, asked, index):
                spoken_of.setdefault(number, turn.position)
        elif turn.by_user:
            for sentence in filter(_asks_for_work, turn.told[:_MOST_ASKED]):
                index.add(len(asked), sentence)
                asked.append((turn, sentence))
    first = next((turn.position for turn in turns if turn.by_user), -1)
    for number, (turn, sentence) in enumerate(asked):
        if turn.position != first:
            state = "done" if number in spoken_of else "pending"
            item = _item(sentence, state, turn.position, 0.9)
            yield item.evolve(ended_at=spoken_of.get(number), note=ASKED)


def _spoken_of(
    turn: Turn, asked: Sequence[tuple[Turn, str]], index: Likeness
) -> list[int]:
    found = index.alike(turn.text, least=_SPOKEN_OF, shared=2)
    return [*found, *_of_last_turn(asked)] if _only_says_done(turn) else found


def _of_last_turn(asked: Sequence[tuple[Turn, str]]) -> list[int]:
    """Return what the newest of the turns that asked for something asked for."""
    newest = asked[-1][0].position if asked else -1
    numbers = range(len(asked) - 1, -1, -1)
    return list(takewhile(lambda n: asked[n][0].position == newest, numbers))


def _only_says_done(turn: Turn) -> bool:
    """True for `Reverted!`: only what was asked for last can be meant."""
    done = [sentence for sentence in turn.told if markers.DONE.search(sentence)]
    return bool(done) and all(
        len(telling_words(markers.FINISHED.sub(" ", sentence))) <= _SHORT
        for sentence in done
    )


_SHORT = 2
_SPOKEN_OF = 0.5  # of the words of what was asked for
_MOST_ASKED = 40


def _asks_for_work(sentence: str) -> bool:
    """True for `please port the importer`, not for a rule or `please go on`."""
    return (
        len(sentence) <= 2 * TODO_CHARS
        and markers.TASK.search(sentence) is not None
        and markers.CANCEL.search(sentence) is None
        and markers.CONSTRAINT.search(sentence) is None
        and _says_more_than_go_on(sentence)
    )


def _says_more_than_go_on(sentence: str) -> bool:
    if markers.GO_ON.search(sentence) is None:
        return True
    return len(telling_words(markers.GO_ON.sub(" ", sentence))) >= _TELLING


_TELLING = 6  # words beside `please go on` that make a request of it


def _is_todo(sentence: str) -> bool:
    return (
        markers.TODO.search(sentence) is not None
        and not markers.QUESTION.search(sentence)
        and not sentence.startswith(("[", "|"))
    )


def _item(text: str, state: str, position: int, factor: float) -> EvidenceItem:
    status = EvidenceStatus.LIVE
    if state in _DONE or _NONE_LEFT.search(text[: 2 * TODO_CHARS]):
        status = EvidenceStatus.RESOLVED
    elif state in _CALLED_OFF:
        status = EvidenceStatus.SUPERSEDED
    line = one_line(text, TODO_CHARS)
    return EvidenceItem(
        kind=EvidenceKind.TODO,
        text=line,
        position=position,
        weight=WEIGHTS[EvidenceKind.TODO] * factor,
        status=status,
        key=todo_key(line),
        note="in progress" if state in _STARTED else "",
    )


def todo_key(text: str) -> str:
    """Return what two tellings of the same todo have in common.

    `6 are left` and later `5 are left` are one count: the newest holds.
    """
    if _COUNT_LEFT.search(text):
        return COUNT_LEFT
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()
