"""Foreign summaries: recognised in every shape, taken out bare."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from compaction.engine.messages import Kind, Message, Role
from compaction.sources.summary_markers import (
    bare_claude,
    bare_codex,
    bare_tagged,
    hermes_summary,
    label_hermes,
)
from tests.sources.hermes_home import (
    END,
    MERGED_DELIMITER,
    MERGED_OPENING,
    PREAMBLE,
    SUMMARY_OPENING,
    merged_text,
    summary_text,
)


@pytest.mark.parametrize(
    "text",
    [
        summary_text("# body\nline"),
        f"{PREAMBLE}\n# body\nline",
        f"{SUMMARY_OPENING} # body\nline",
        f"  \n{SUMMARY_OPENING}\n# body\nline\n\n{END}\n",
        f"[CONTEXT SUMMARY]: # body\nline\n\n{END}",
        "[CONTEXT SUMMARY]:\n# body\nline",
        SUMMARY_OPENING.replace("—", "-") + "\n# body\nline",
    ],
)
def test_every_shape_gives_the_bare_text(text: str):
    found = hermes_summary(text)
    assert found is not None
    assert (found.summary, found.is_merged) == ("# body\nline", False)


def test_the_last_words_of_the_preamble_inside_the_body_are_body():
    text = f"{SUMMARY_OPENING} short\nkeep avoid repeating it: please"
    found = hermes_summary(text)
    assert found is not None
    assert found.summary == "short\nkeep avoid repeating it: please"


def test_an_end_mark_inside_the_body_is_body():
    found = hermes_summary(summary_text(f"{END}\nmore"))
    assert found is not None
    assert found.summary == f"{END}\nmore"


@given(own=st.text(max_size=60), body=st.text(max_size=60))
def test_a_merged_summary_and_its_message_come_apart_again(own: str, body: str):
    if MERGED_DELIMITER in own:
        return
    found = hermes_summary(merged_text(own, body))
    assert found is not None
    assert (found.own, found.is_merged) == (own, True)
    assert found.summary == body.strip() or "\n" in body or END[:8] in body


def test_a_summary_merged_into_parts_leaves_the_other_parts():
    picture = {"type": "image_url", "image_url": {"url": "x"}}
    parts = [
        {"type": "text", "text": f"{MERGED_OPENING}\n"},
        {"type": "text", "text": "mine"},
        picture,
        {"type": "text", "text": f"\n\n{MERGED_DELIMITER}\n\n{summary_text('# s')}"},
    ]
    message = label_hermes(Message(role=Role.USER, content=tuple(parts)))
    assert message.content == ({"type": "text", "text": "mine"}, picture)
    assert message.carried_summary == "# s"
    assert message.kind is Kind.PLAIN


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "plain words",
        "what does [CONTEXT COMPACTION — REFERENCE ONLY] mean?",
        f"{MERGED_DELIMITER} and no summary after it",
        (),
        ({"type": "image_url", "image_url": {"url": "x"}},),
    ],
)
def test_what_is_no_summary_stays_plain(content: object):
    assert hermes_summary(content) is None
    message = Message(role=Role.USER, content=content)
    assert label_hermes(message) is message


def test_synthetic_openings_count_only_where_hermes_writes_them():
    text = "[IMPORTANT: Background process 1 ended"
    assert label_hermes(Message(role=Role.USER, content=text)).kind is Kind.SYNTHETIC
    assert label_hermes(Message(role=Role.TOOL, content=text)).kind is Kind.PLAIN


def test_preambles_of_codex_and_claude_are_taken_off():
    codex = "Another language model started to solve this problem, so:\n# done"
    claude = "This session is being continued from a previous conversation.\n# done"
    assert bare_codex(codex) == "# done"
    assert bare_claude(claude) == "# done"
    assert bare_codex("# done") == bare_claude("# done") == "# done"
    assert bare_claude(claude.splitlines()[0]) == claude.splitlines()[0]


def test_text_between_summary_tags_is_taken_and_unclosed_tags_are_text():
    assert bare_tagged("<analysis>x</analysis><summary>\ns\n</summary> end") == "s"
    assert bare_tagged("<summary>never closed") == "<summary>never closed"
