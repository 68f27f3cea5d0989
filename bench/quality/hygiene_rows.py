"""Rows of the redaction, and of what the extraction costs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

from bench.inputs import SEED, make_code, make_prose
from bench.measuring import Take, cpu_seconds, side_by_side
from bench.quality.secrets import CODE, make_secrets, share_masked
from bench.redaction_rows import HOSTILE
from bench.rows import Measured, Row, Rule
from bench.workshop import Workshop
from compaction.engine.evidence.collect import collect
from compaction.engine.messages import Message, Role, ToolCall
from compaction.engine.phases.redaction import redact

_MARGIN = 4_000  # characters of made-up code, beside the lines that name secrets


def redact_recall(workshop: Workshop) -> Measured:
    """The share of texts whose secrets are masked."""
    texts = make_secrets()
    plain = [text for text, _ in texts]
    return Measured(
        ours=share_masked(texts, [redact(text) for text in plain]),
        other=share_masked(texts, workshop.peer.ask("redact", texts=plain)),
        unit="",
        note=f"{len(texts)} places where people leave secrets",
    )


def redact_false_masks(workshop: Workshop) -> Measured:
    """Lines of program text without a secret that are changed all the same."""
    lines = [*CODE, *make_code(random.Random(SEED), _MARGIN).splitlines()]
    return Measured(
        ours=_changed(lines, [redact(line) for line in lines]),
        other=_changed(lines, workshop.peer.ask("redact", texts=lines)),
        unit="",
        note=f"of {len(lines)} lines",
    )


def _changed(before: Sequence[str], after: Sequence[str]) -> int:
    return sum(old != new for old, new in zip(before, after, strict=True))


def extract_growth(workshop: Workshop) -> Measured:
    """CPU seconds of the extraction over L and over M."""

    def take(letter: str) -> Take:
        messages = workshop.conversation(letter).messages
        return lambda: cpu_seconds(lambda: collect(messages))

    return side_by_side(take("L"), take("M"), runs=min(3, workshop.sizes.runs))


def extract_hostile(workshop: Workshop) -> Measured:
    """CPU seconds for a million characters: the worst hostile text, and prose."""
    chars = workshop.sizes.hostile_chars
    prose = make_prose(random.Random(SEED), chars)
    texts = {part: (part * (chars // len(part) + 1))[:chars] for part in HOSTILE}
    dearest = max(texts, key=lambda part: _per_million(texts[part]))
    measured = side_by_side(
        lambda: _per_million(texts[dearest]),
        lambda: _per_million(prose),
        runs=workshop.sizes.runs,
        unit="s/Mchar",
    )
    return Measured(
        ours=measured.ours,
        other=measured.other,
        unit=measured.unit,
        note=f"the dearest of {len(texts)} texts is {dearest!r} again and again",
    )


def _per_million(text: str) -> float:
    """Let a user, the agent, a call and its tool say the text; least of three."""
    call = ToolCall(id="c", name="terminal", arguments=f'{{"command": "{text}"}}')
    messages = (
        Message(role=Role.USER, content=text),
        Message(role=Role.ASSISTANT, content=text, tool_calls=(call,)),
        Message(role=Role.TOOL, content=text, tool_call_id="c"),
    )
    spent = min(cpu_seconds(partial(collect, messages)) for _ in range(3))
    return spent * 1e6 / (4 * len(text))


ROWS = (
    Row(
        name="redact_recall",
        target="1",
        measure=redact_recall,
        against="Hermes over the same texts",
        rule=Rule.RATIO_FROM,
    ),
    Row(
        name="redact_false_masks",
        target="0.99",
        measure=redact_false_masks,
        against="Hermes over the same program text",
    ),
    Row(
        name="extract_growth",
        target="12",
        measure=extract_growth,
        against="10,000 messages instead of 100,000",
    ),
    Row(
        name="extract_hostile",
        target="3",
        measure=extract_hostile,
        against="the same number of characters of prose",
    ),
)
