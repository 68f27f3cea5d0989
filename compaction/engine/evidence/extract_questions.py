"""Questions that nobody answered, whoever asked them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from compaction.engine.evidence import markers
from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.likeness import Likeness, telling_words
from compaction.engine.evidence.reading import Turn
from compaction.engine.evidence.wording import one_line

QUESTION_CHARS = 240
ASKED_BY_USER = "asked by the user"
_MOST_OF_A_TURN = 4
_ANSWERED = 0.5  # of the telling words of a question stand in its answer

# Agents think in questions, too; these are put to somebody.
_PUT = re.compile(
    r"\b(?:you|your|yours|shall|should|may i|can i|do we|are we|is it ok|which|who|whom"
    r"|whose|when|where|how (?:many|much|often|long)|is \w+ allowed|allowed to)\b"
    r"|你|您|请问|要不要|是否|可否|能否|哪|谁|几|多少|什么时候",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"\s{0,8}(?:(?:yes|yeah|yep|yup|no|nope|nah|sure|ok|okay|correct|right|exactly|both"
    r"|neither|either|agreed|of course|definitely|absolutely|go ahead|do it|don't)\b"
    r"|是的?|不是|不用|可以|好|行|对|嗯|没问题|不行|不要|当然)",
    re.IGNORECASE,
)

_OPEN = re.compile(
    r"\b(?:which|who|whom|whose|what|when|where|how|why)\b|哪|谁|几|多少|什么|怎么|为何",
    re.IGNORECASE,
)
_TO_ONESELF = re.compile(
    r"\b(?:let me|i wonder|hm+|why (?:does|is|did|would)|what if|wait)\b|为什么会|让我",
    re.IGNORECASE,
)


def extract_questions(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield each question with whether it was answered."""
    asked: list[tuple[Turn, str]] = []
    answered: dict[int, int] = {}
    of_agent, of_user = Likeness(), Likeness()
    for turn in turns:
        if turn.by_user:
            _note_answers(turn, asked, answered, of_agent)
        elif turn.is_assistant and turn.told:
            found = of_user.alike(turn.text, least=_ANSWERED, shared=2)
            if not turn.calls:  # the reply to what was asked last
                found += _of_last_turn(asked)
            for number in found:
                answered.setdefault(number, turn.position)
        for question in _questions(turn):
            index = of_user if turn.by_user else of_agent
            index.add(len(asked), question)
            asked.append((turn, question))
    for number, (turn, question) in enumerate(asked):
        yield _item(turn, question, answered.get(number))


def _note_answers(
    turn: Turn,
    asked: Sequence[tuple[Turn, str]],
    answered: dict[int, int],
    of_agent: Likeness,
) -> None:
    """A yes, or a word of it, answers the question before; others those alike."""
    found = of_agent.alike(turn.text, least=_ANSWERED, shared=1)
    if asked and not asked[-1][0].by_user:
        question = asked[-1][1]
        shared = telling_words(question) & telling_words(turn.text)
        if shared or says_yes_or_no(turn, question):
            found.append(len(asked) - 1)
    for number in found:
        answered.setdefault(number, turn.position)


def _of_last_turn(asked: Sequence[tuple[Turn, str]]) -> list[int]:
    """Return the questions of the user's newest turn, if nobody asked since."""
    if not asked or not asked[-1][0].by_user:
        return []
    newest = asked[-1][0].position
    numbers = range(len(asked) - 1, -1, -1)
    return list(takewhile(lambda n: asked[n][0].position == newest, numbers))


def says_yes_or_no(turn: Turn, question: str) -> bool:
    """True for a yes or no to a question that asks for one; `who` does not."""
    is_said = _YES_OR_NO.match(turn.text) is not None
    return is_said and _OPEN.search(question) is None


def is_answer(turn: Turn, question: EvidenceItem) -> bool:
    """True when a turn answers a question that was asked before it."""
    if question.note == ASKED_BY_USER:
        is_other = turn.is_assistant
    else:
        is_other = turn.by_user
        if turn.by_user and says_yes_or_no(turn, question.text):
            return True
    words = telling_words(question.text)
    shared = words & telling_words(turn.text) if is_other else frozenset()
    return len(shared) >= max(1, _ANSWERED * len(words))


def _questions(turn: Turn) -> Iterator[str]:
    if not (turn.by_user or turn.is_assistant):
        return
    found = [sentence for sentence in turn.told if _asks(sentence, turn)]
    yield from found[-_MOST_OF_A_TURN:]


def _asks(sentence: str, turn: Turn) -> bool:
    return (
        8 <= len(sentence) <= 2 * QUESTION_CHARS
        and markers.QUESTION.search(sentence) is not None
        and not markers.TASK.search(sentence)
        and len(telling_words(sentence)) >= 2
        and (turn.by_user or _is_put(sentence, turn))
    )


def _is_put(sentence: str, turn: Turn) -> bool:
    """True for a question to the user; one that stands last is always put to him."""
    if _TO_ONESELF.search(sentence):
        return False
    is_last = not turn.calls and sentence == turn.told[-1]
    return is_last or _PUT.search(sentence) is not None


def _item(turn: Turn, question: str, answered_at: int | None) -> EvidenceItem:
    is_open = answered_at is None
    return EvidenceItem(
        kind=EvidenceKind.QUESTION,
        text=one_line(question, QUESTION_CHARS),
        position=turn.position,
        weight=WEIGHTS[EvidenceKind.QUESTION],
        status=EvidenceStatus.LIVE if is_open else EvidenceStatus.RESOLVED,
        key=one_line(question, QUESTION_CHARS),
        note=ASKED_BY_USER if turn.by_user else "",
        ended_at=answered_at,
    )
