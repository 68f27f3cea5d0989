"""What invented tools print: the same for the same arguments, plausible in shape."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

_NOUNS = (
    *("order", "basket", "parcel", "invoice", "seedling", "crate", "harvest", "route"),
    *("ledger", "tariff", "voucher", "depot", "orchard", "batch", "label", "refund"),
)
_VERBS = (
    *("load", "merge", "price", "split", "count", "weigh", "assign", "close", "check"),
    *("sort", "pack", "match", "round", "settle", "queue", "renew", "archive"),
)
_SERVICES = ("api", "worker", "scheduler", "gateway", "billing", "mailer")


def python_file(name: str, functions: int) -> str:
    """A Python module with this many functions."""
    chance = Random(name)
    lines = [f'"""Part of the Orchard example: {name}."""', "", "import logging", ""]
    for number in range(functions):
        verb, noun = chance.choice(_VERBS), chance.choice(_NOUNS)
        limit = chance.randint(3, 90)
        lines += [
            "",
            f"def {verb}_{noun}_{number}(items, limit={limit}):",
            f'    """Return the {noun}s that are left to {verb}."""',
            "    left = [item for item in items if not item.done]",
            f"    if len(left) > limit:  # one {chance.choice(_NOUNS)} holds less",
            f'        logging.warning("%d {noun}s over the limit", len(left) - limit)',
            "    return left[:limit]",
        ]
    return "\n".join(lines)


def log_lines(service: str, count: int, *, errors: Sequence[str] = ()) -> str:
    """A service's log, the errors spread over it."""
    chance = Random(f"{service}{count}")
    lines = []
    for number in range(count):
        minute, second = divmod(number * 7, 60)
        stamp = f"2026-11-28T{9 + minute // 60:02}:{minute % 60:02}:{second:02}Z"
        other, took = chance.choice(_SERVICES), chance.randint(2, 940)
        verb, noun = chance.choice(_VERBS), chance.choice(_NOUNS)
        lines.append(
            f"{stamp} INFO  {service} {verb} {noun} id={chance.randint(1_000, 99_999)} "
            f"peer={other} took={took}ms"
        )
    for number, error in enumerate(errors):
        place = (number + 1) * count // (len(errors) + 1)
        lines[place] = f"{lines[place].split(' INFO')[0]} ERROR {service} {error}"
    return "\n".join(lines)


def suite_report(suite: str, count: int, *, failed: Sequence[str] = ()) -> str:
    """A test run, dots first, then what failed."""
    dots = [f"{suite}/test_{_NOUNS[n % 16]}.py {'.' * 24}" for n in range(count // 24)]
    lines = ["collected {} items", *dots]
    for name in failed:
        lines += [f"FAILED {suite}/{name}", "E   AssertionError: expected 3, got 4"]
    passed = count - len(failed)
    lines.append(f"{len(failed)} failed, {passed} passed in {count / 7:.1f}s")
    lines.append(f"exit code: {int(bool(failed))}")
    return "\n".join(lines).replace("{}", str(count), 1)


def table(header: str, rows: int) -> str:
    """A query's answer as text."""
    chance = Random(header)
    body = [
        f"{number:>6} | {chance.choice(_NOUNS):<10} | {chance.randint(1, 9_999):>6} | "
        f"{chance.uniform(0.1, 900):>8.2f}"
        for number in range(rows)
    ]
    return "\n".join([header, "-" * len(header), *body, f"({rows} rows)"])


def page_text(topic: str, paragraphs: int) -> str:
    """A page of prose about a topic."""
    chance = Random(topic)
    sentences = [
        f"The {chance.choice(_NOUNS)} of {topic} is {chance.choice(_VERBS)}ed before "
        f"the {chance.choice(_NOUNS)} is {chance.choice(_VERBS)}ed, unless "
        f"{chance.randint(2, 40)} {chance.choice(_NOUNS)}s wait."
        for _ in range(paragraphs * 5)
    ]
    return "\n\n".join(
        " ".join(sentences[n * 5 : n * 5 + 5]) for n in range(paragraphs)
    )
