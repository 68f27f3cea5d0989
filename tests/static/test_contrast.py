"""Every text of the style sheet can be read on every ground it stands on.

Computed from the tokens of app.css, in both themes (WCAG 2.2: 1.4.3, 1.4.11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

STYLE = (Path(__file__).parents[2] / "static" / "app.css").read_text(encoding="utf-8")
TOKEN = re.compile(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")


def tokens_in(text: str) -> dict[str, tuple[str, str]]:
    return {name: (light, dark) for name, light, dark in TOKEN.findall(text)}


USUAL = tokens_in(STYLE.split("@layer base {")[0])
STRONG = USUAL | tokens_in(STYLE.split("(prefers-contrast: more)")[1])
THEMES = ("light", "dark")

GROUNDS = ("bg", "panel", "sunken", "raised")
TINTS = ("ok-bg", "warn-bg", "bad-bg", "info-bg", "accent-bg")
PARTS = ("system", "tools", "task", "summary", "head", "middle", "tail")
TEXT_ON = {
    **dict.fromkeys(("ink", "soft", "faint", "accent"), (*GROUNDS, *TINTS)),
    "ok": (*GROUNDS, "ok-bg"),
    "warn": (*GROUNDS, "warn-bg"),
    "bad": (*GROUNDS, "bad-bg"),
    "info": (*GROUNDS, "info-bg"),
    "on-accent": ("accent", "accent-hover"),
    "on-part": PARTS,
    # chips and band names
    **{part: ("panel", "accent-bg") for part in PARTS if part != "tools"},
}
SHAPE_ON = {
    "field-line": GROUNDS,
    "by-tool": ("panel",),
    **dict.fromkeys(PARTS, ("panel",)),
}


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def pairs_below(
    least: float,
    table: Mapping[str, tuple[str, ...]],
    tokens: dict[str, tuple[str, str]],
) -> list[str]:
    return [
        f"{text} on {ground}, {theme}: {ratio:.2f}"
        for text, grounds in table.items()
        for ground in grounds
        for index, theme in enumerate(THEMES)
        if (ratio := contrast(tokens[text][index], tokens[ground][index])) < least
    ]


def test_contrast_is_measured_as_wcag_does():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_every_text_reaches_four_and_a_half_to_one():
    assert pairs_below(4.5, TEXT_ON, USUAL) == []


def test_who_asks_for_more_contrast_gets_seven_to_one():
    quiet = dict.fromkeys(("ink", "soft", "faint"), GROUNDS)

    assert pairs_below(7, quiet, STRONG) == []
    assert pairs_below(3.0, {"line": ("bg", "panel")}, STRONG) == []


def test_edges_of_fields_and_parts_of_charts_reach_three_to_one():
    assert pairs_below(3.0, SHAPE_ON, USUAL) == []


def test_every_token_that_is_used_as_text_is_in_the_table():
    used = set(re.findall(r"(?<![-a-z])(?:color|fill): var\(--([a-z-]+)\)", STYLE))
    grounds_only = {
        "part", "free", "line", "panel", "sunken", "by-user", "by-assistant", "by-tool",
        "by-system", "pruned", "field-line",
    }  # fmt: skip

    assert used - grounds_only <= set(TEXT_ON)


def test_colours_are_written_once_as_tokens():
    rules = STYLE.split("@layer base {", 1)[1]
    strays = re.findall(r"#[0-9a-f]{3,8}\b", re.sub(r"light-dark\(.*\)", "", rules))

    assert strays == ["#fff", "#bbb"]  # paper and its lines, in print


def test_a_reader_may_choose_theme_motion_and_contrast():
    for mode in (
        '[data-theme="dark"] { color-scheme: dark; }',
        "(prefers-reduced-motion: reduce)",
        "(prefers-contrast: more)",
        "(forced-colors: active)",
        "@media print",
        ":focus-visible",
    ):
        assert mode in STYLE


def test_the_style_sheet_asks_nothing_of_another_host():
    assert re.findall(r"https?:|//[a-z]|@import", STYLE) == []
