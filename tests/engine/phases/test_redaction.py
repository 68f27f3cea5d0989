"""Secrets are masked, everything else stays as it is, and doing it twice is once."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, strategies as st

from compaction.engine.phases.redaction import redact, redact_with_report
from compaction.engine.phases.secret_shapes import SHAPES, whose_key
from tests.engine.phases.redaction_examples import (
    HARMLESS,
    PEM,
    SECRETS,
    VENDOR_KEYS,
    key,
)

MASK = re.compile(r"\[redacted(?::[a-z-]+)?\]")

PLACES = [
    "{}",
    "use {} now",
    '"{}"',
    "`{}`",
    "({})",
    "line\\n{}\\nline",
    "x={}",
    "see {}.",
    "中文{}中文",
    "\n\t{}\n",
]


@pytest.mark.parametrize("secret", VENDOR_KEYS)
@pytest.mark.parametrize("place", PLACES)
def test_a_key_of_known_shape_is_masked_wherever_it_stands(secret: str, place: str):
    assert secret not in redact(place.format(secret))


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_known_by_name_or_place_is_masked(text: str, secret: str):
    assert secret not in redact(text)


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_within_json_within_json_is_masked(text: str, secret: str):
    once = json.dumps({"content": f"{text}\nnext line"}, ensure_ascii=False)
    written = json.dumps(secret, ensure_ascii=False)[1:-1]

    assert written not in redact(once)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str):
    assert redact(text) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays_between_other_lines(text: str):
    around = f"def main():\n    {text}\n    return 1\n"

    assert redact(around) == around


def test_the_report_says_what_was_masked():
    report = redact_with_report(f"password=hunter2 and {key('gh' + 'p_')}\n{PEM}")

    assert report.kinds == {"named": 1, "github": 1, "private-key": 1}
    assert report.count == 3
    assert report.text == (
        "password=[redacted] and [redacted:github]\n[redacted:private-key]"
    )


def test_a_name_and_its_quotes_stay_around_the_mask():
    text = '{"password": "hunter2", "port": 5432}'

    assert redact(text) == '{"password": "[redacted]", "port": 5432}'


def test_masked_json_is_still_json():
    text = json.dumps({"api_key": key("", 30), "url": "postgres://u:s3cr3tt@h/db"})

    assert json.loads(redact(text))["url"] == "postgres://u:[redacted]@h/db"


@pytest.mark.parametrize("prefix", sorted(SHAPES))
def test_every_known_shape_is_found_by_its_first_two_letters(prefix: str):
    for _, pattern in SHAPES[prefix]:
        assert pattern.pattern.replace("\\", "").startswith(prefix)


def test_the_name_of_a_package_is_no_key():
    assert whose_key("sk-learn-contrib-packages") is None


# any text

secret_texts = st.sampled_from([text for text, _ in SECRETS] + VENDOR_KEYS + [PEM])
glue = st.sampled_from(
    ["", " ", "\n", ": ", "=", '"', "'", "\\n", ",", "://", "@", "密码"]
)
any_text = st.lists(
    st.one_of(secret_texts, glue, st.sampled_from(HARMLESS), st.text(max_size=12)),
    max_size=8,
).map("".join)


@given(any_text)
def test_masking_twice_changes_nothing_more(text: str):
    once = redact(text)

    assert redact(once) == once


@given(any_text)
def test_nothing_but_secrets_is_removed(text: str):
    at = 0
    for part in MASK.split(redact(text)):
        found = text.find(part, at)
        assert found >= 0
        at = found + len(part)


@given(
    before=st.text(max_size=20),
    after=st.text(max_size=20),
    example=st.sampled_from(SECRETS),
)
def test_a_secret_on_its_own_line_is_masked_in_any_company(
    before: str, after: str, example: tuple[str, str]
):
    text, secret = example
    whole = f"{before}\n{text}\n{after}"

    assert redact(whole).count(secret) <= (before + after).count(secret)


@given(st.text())
def test_any_text_can_be_masked(text: str):
    redact(text)


@pytest.mark.parametrize(
    "text", ["\ud800 password=hunter2 \udfff", "a\x00password=hunter2\x00"]
)
def test_broken_characters_do_not_hide_a_secret(text: str):
    assert "hunter2" not in redact(text)


HOSTILE = [
    "a." * 5_000 + "=1",
    "token_" * 3_000 + "=",
    "A_" * 10_000,
    "<think>" * 3_000,
    "password=" * 2_000,
    "password: " * 2_000,
    'key="' * 4_000,
    "sk-" * 7_000,
    "eyJ" * 7_000,
    "://a:" * 4_000,
    "://" + "a:" * 10_000,
    "-----BEGIN PRIVATE KEY-----" * 800,
    "Cookie: a=" * 2_000,
    "Authorization: " * 1_300,
    "--password " * 1_800,
    '\\"' * 10_000,
    "密码：" * 7_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12])
def test_hostile_repetition_is_survived(text: str):
    """Exponential or cubic search would meet the suite's time limit here."""
    once = redact(text * 5)

    assert redact(once) == once
