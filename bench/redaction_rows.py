"""Rows of the redaction: hostile text costs little more than prose, and no power of it.

The real Hermes needs 31 s for 2,000 hostile characters: its cost grows with their cube.
"""

from __future__ import annotations

import random
from functools import partial

from bench.inputs import SEED, make_prose
from bench.measuring import cpu_seconds, side_by_side
from bench.rows import Measured, Row
from bench.workshop import Workshop
from compaction.engine.phases.redaction import redact

HOSTILE = (
    # what brings other redactors down (performance of Hermes 0.19)
    *("a.", "token_", "A_", "<think>", "a.b=", "x=", "_"),
    # beginnings of what ours looks for, without end
    *("sk-", "eyJ.", "AKIA ", "ghp_ ", "-----BEGIN ", "://", "a://b:c", "a@", "hf_a-"),
    *("Bearer ", "Authorization: ", "Cookie: a=b; ", "password: ", "--token ", "key: "),
    *("secret", "&token=", '"key":"', '\\\\"', "login x passwords ", "ENV KEY "),
    # runs without a place to stop
    *("a", " ", "\n", "=", ":", '"', "密码", "deadbeef", "0"),
)
"""Texts are one of these, again and again; none holds a secret."""

SECRETS = (
    "api_key=sk-9f8e7d6c5b4a3f2e1d0c9b8a7f6e5d4c ",
    '{"token":"9f8e7d6c5b4a3f2e1d0c"},',
    "https://user:pa55word9@",
    "Authorization: Bearer 9f8e7d6c5b4a3f2e1d0c\n",
)
"""Texts that are nothing but secrets: each is judged and masked, in two rounds."""


def redact_linear(workshop: Workshop) -> Measured:
    """Seconds for a million characters: the worst hostile text, and prose."""
    chars = workshop.sizes.hostile_chars
    prose = make_prose(random.Random(SEED), chars)
    hostile = [_repeated(part, chars) for part in HOSTILE]
    return side_by_side(
        lambda: max(map(_per_million, hostile)),
        lambda: _per_million(prose),
        runs=workshop.sizes.runs,
        unit="s/Mchar",
    )


def redact_growth(workshop: Workshop) -> Measured:
    """Seconds for twice as much of the text whose cost grows the most."""
    chars = workshop.sizes.hostile_chars
    pairs = [
        (_seconds(_repeated(part, 2 * chars)), _seconds(_repeated(part, chars)))
        for part in (*HOSTILE, *SECRETS)
    ]
    ours, other = max(pairs, key=lambda pair: pair[0] / pair[1])
    return Measured(ours=ours, other=other, note=f"the worst of {len(pairs)} texts")


def _repeated(part: str, chars: int) -> str:
    return (part * (chars // len(part) + 1))[:chars]


def _per_million(text: str) -> float:
    return _seconds(text) * 1e6 / len(text)


def _seconds(text: str) -> float:
    """The least of three: what disturbs only adds."""
    return min(cpu_seconds(partial(redact, text)) for _ in range(3))


ROWS = (
    Row(
        name="redact_linear",
        target="3",
        measure=redact_linear,
        against="the same number of characters of prose",
    ),
    Row(
        name="redact_growth",
        target="3",
        measure=redact_growth,
        against="half as much of the same text; 2 is linear",
    ),
)
