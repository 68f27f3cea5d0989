"""Sentences that bind or explain: constraints of the user, decisions, finished work.

A constraint comes only from what a user wrote. Text that tools returned may say "you
must" as loudly as it likes: it stays data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compaction.engine.evidence import markers
from compaction.engine.evidence.items import WEIGHTS, EvidenceItem, EvidenceKind
from compaction.engine.evidence.opposed import choices
from compaction.engine.evidence.reading import Turn
from compaction.engine.evidence.wording import content_words, one_line, subject_key

SENTENCE_CHARS = 260
_LONGEST = 600  # a longer "sentence" is a paragraph of data
_MOST_CONSTRAINTS = 40  # of one message
_MOST_DECISIONS = 12
_MOST_DONE = 8


def extract_constraints(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield what users demand, forbid and prefer, word for word."""
    for turn in turns:
        if turn.by_user:
            found = (
                _statement(EvidenceKind.CONSTRAINT, sentence, turn)
                for sentence in turn.told
                if _binds(sentence)
            )
            yield from _first(found, _MOST_CONSTRAINTS)


def _binds(sentence: str) -> bool:
    return (
        4 <= len(sentence) <= _LONGEST
        and not markers.QUESTION.search(sentence)
        and (
            markers.CONSTRAINT.search(_apart_from_work(sentence)) is not None
            or _sets_measure(sentence)
            or _chooses(sentence)
        )
    )


def _sets_measure(sentence: str) -> bool:
    """True for a measure that a Chinese sentence sets without a word of demand."""
    if not _MEASURE.search(sentence) or markers.TODO.search(sentence):
        return False
    is_change = markers.CHANGE.search(sentence) is not None
    return is_change or not _TOLD_AS_NEWS.search(sentence)


def _chooses(sentence: str) -> bool:
    """True for a few words that make a choice: `identifiers in snake_case please`."""
    return (
        len(content_words(sentence)) <= _FEW_WORDS
        and any(is_wanted for _, __, is_wanted in choices(sentence))
        and markers.DONE.search(sentence) is None
    )


_FEW_WORDS = 7
_MEASURE = re.compile(
    r"\d\s?(?:端口|列|行|天|小时|分钟|秒|毫秒|个月|周|年|次|条|人|字|兆|[KMG]B)"
    r"|(?:端口|上限|下限|版本|间隔|超时)\D{0,6}\d"
)
_TOLD_AS_NEWS = re.compile("[了过]|已|曾|刚|昨|目前|现有|报错|失败|出现|发现|错误")


def _apart_from_work(sentence: str) -> str:
    """Leave out what speaks of work to do or called off: it binds nobody.

    `We still have to write docs` is a todo; `pending migrations must be reversible`
    says `must` beside it.
    """
    return markers.CANCEL.sub(" ", markers.TODO.sub(" ", sentence))


def extract_decisions(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield what was decided and why, by the agent or by the user."""
    for turn in turns:
        if turn.is_assistant or turn.by_user:
            found = (
                _decision(sentence, turn)
                for sentence in turn.told
                if _tells(sentence)
                and not markers.QUESTION.search(sentence)
                and markers.DECISION.search(sentence)
                and not _LEFT_TO_OTHERS.search(sentence)
            )
            yield from _first(found, _MOST_DECISIONS)


_LEFT_TO_OTHERS = re.compile(r"\b(?:let me know|you would|would you|you(?:'d| can))\b")


def _tells(sentence: str) -> bool:
    """False for what only leads to a list or a block of code."""
    return 8 <= len(sentence) <= _LONGEST and not sentence.endswith((":", "："))


def _decision(sentence: str, turn: Turn) -> EvidenceItem:
    item = _statement(EvidenceKind.DECISION, sentence, turn)
    strong = markers.STRONG_DECISION.search(sentence) is not None
    return item if strong else item.evolve(weight=item.weight * 0.6)


def extract_done(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield what the agent says it has finished."""
    for turn in turns:
        if turn.is_assistant:
            found = (
                _statement(EvidenceKind.DONE, sentence, turn)
                for sentence in turn.told
                if _tells(sentence)
                and markers.DONE.search(sentence)
                and not markers.NEXT.search(sentence)
                and not markers.TODO.search(sentence)
            )
            yield from _first(found, _MOST_DONE)


def _statement(kind: EvidenceKind, sentence: str, turn: Turn) -> EvidenceItem:
    return EvidenceItem(
        kind=kind,
        text=one_line(sentence, SENTENCE_CHARS),
        position=turn.position,
        weight=WEIGHTS[kind],
        key=subject_key(sentence),
    )


def _first(items: Iterator[EvidenceItem], most: int) -> Iterator[EvidenceItem]:
    for _, item in zip(range(most), items, strict=False):
        yield item
