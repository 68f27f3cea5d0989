"""What the user wants, what was answered, and where the work stood at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compaction.engine.evidence import markers
from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.reading import Turn, spoken_by_user
from compaction.engine.evidence.wording import (
    content_words,
    has_value,
    one_line,
    sentences,
)

GOAL_CHARS = 900
REQUEST_CHARS = 320
ANSWER_CHARS = 110
STATE_CHARS = 320
NEWEST_REQUEST = WEIGHTS[EvidenceKind.GOAL] - 2
_RECENT = 8  # requests; older ones weigh less
_LATE_TURNS = 3  # assistant texts that still tell where the work stands


def extract_requests(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield the goal, then each request with what was answered to it."""
    asked = spoken_by_user(turns)
    goal = _find_goal(turns, asked)
    answers = _answers(turns, [turn.position for turn in asked])
    for number, turn in enumerate(asked):
        answer = answers[number]
        is_past = bool(answer) and number not in (goal, len(asked) - 1)
        yield EvidenceItem(
            kind=EvidenceKind.GOAL if number == goal else EvidenceKind.REQUEST,
            text=one_line(turn.text, GOAL_CHARS if number == goal else REQUEST_CHARS),
            position=turn.position,
            weight=_weight_of_request(turn, number - goal, len(asked) - goal),
            status=EvidenceStatus.RESOLVED if is_past else EvidenceStatus.LIVE,
            note=answer,
        )


def _find_goal(turns: Sequence[Turn], asked: Sequence[Turn]) -> int:
    """Return which request is the goal; -1 where the beginning is not among the turns.

    What begins with a call or its result goes on with something asked for before.
    """
    if turns and (turns[0].is_result or turns[0].calls):
        return -1
    return next((n for n, turn in enumerate(asked) if _says_much(turn)), 0)


def _weight_of_request(turn: Turn, number: int, count: int) -> float:
    if number == 0:
        return WEIGHTS[EvidenceKind.GOAL]
    if number == count - 1:
        return NEWEST_REQUEST
    age = 0.8 if count - number <= _RECENT else 0.5
    return WEIGHTS[EvidenceKind.REQUEST] * age if _says_much(turn) else 18


def _says_much(turn: Turn) -> bool:
    return len(content_words(turn.text)) >= 4 or has_value(turn.text)


def _answers(turns: Sequence[Turn], asked_at: list[int]) -> list[str]:
    """Return the last text of the agent before each next request."""
    answers = ["" for _ in asked_at]
    current = -1
    for turn in turns:
        if current + 1 < len(asked_at) and turn.position == asked_at[current + 1]:
            current += 1
        elif current >= 0 and turn.is_assistant and turn.text.strip():
            answers[current] = turn.text
    return [one_line(_first_words(answer), ANSWER_CHARS) for answer in answers]


def answer_before(turns: Sequence[Turn], position: int) -> str:
    """Return the last text of the agent before a message, in short; '' if none."""
    said = [
        turn.text
        for turn in turns
        if turn.is_assistant and turn.position < position and turn.text.strip()
    ]
    return one_line(_first_words(said[-1]), ANSWER_CHARS) if said else ""


def _first_words(text: str) -> str:
    """Return the first sentence that says something, else the first at all."""
    told = list(sentences(text, most=12))
    for sentence in told:
        if len(content_words(sentence)) >= 4 and not markers.QUESTION.search(sentence):
            return sentence
    return told[0] if told else ""


def extract_state(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield what the agent was doing and announced at the end."""
    spoken = [turn for turn in turns if turn.is_assistant and turn.text.strip()]
    if not spoken:
        return
    last = spoken[-1]
    yield EvidenceItem(
        kind=EvidenceKind.STATE,
        text=one_line(last.text, STATE_CHARS),
        position=last.position,
        weight=WEIGHTS[EvidenceKind.STATE],
    )
    for turn in spoken[-_LATE_TURNS:]:
        yield from _outlook(turn)


def _outlook(turn: Turn) -> Iterator[EvidenceItem]:
    for sentence in turn.told[:60]:
        kind = _kind_of_outlook(sentence)
        if kind is not None and 12 <= len(sentence) <= 2 * STATE_CHARS:
            yield EvidenceItem(
                kind=kind,
                text=one_line(sentence, STATE_CHARS),
                position=turn.position,
                weight=WEIGHTS[kind],
            )


def _kind_of_outlook(sentence: str) -> EvidenceKind | None:
    if sentence.endswith((":", "：")) or markers.QUESTION.search(sentence):
        return None
    if markers.BLOCKED.search(sentence):
        return EvidenceKind.BLOCKER
    tells = has_value(sentence) or len(content_words(sentence)) >= 3
    return EvidenceKind.NEXT if tells and markers.NEXT.search(sentence) else None
