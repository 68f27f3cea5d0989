"""Rules, todos and decisions in many mouths; what only sounds like one is none."""

from __future__ import annotations

import pytest

from compaction.engine.evidence.items import EvidenceKind, EvidenceStatus
from compaction.engine.messages import Message, Role
from tests.engine.evidence.saying import found, texts

LIVE = EvidenceStatus.LIVE
BEGIN = Message(role=Role.USER, content="Build the importer of our shop with me.")

RULES = [
    *("Kindly refrain from editing the lockfile.", "The legacy endpoint stays as is."),
    *("Our CI chokes on warnings, so treat them as errors.", "Money is always cents."),
    *("Two reviewers per change, no exceptions.", "Let's not break Python 3.9."),
    *("tests first, then code", "Timeouts over 30s are unacceptable.", "生产库只读。"),
    *("Only touch files below packages/web.", "接口命名用复数。", "千万别动计费模块。"),
    *("Limit lines in the shop's importer to 90 columns.", "每页最多 20 条。"),
    *("Identifiers in snake_case please.", "服务监听 8443 端口。"),
]
TODOS = [
    *("I'll come back to the flaky upload test.", "Left for later: dark mode."),
    *("We need to add pagination at some point.", "Not covered yet: retries on 503."),
    *("The changelog entry is still missing.", "回头再补单元测试。", "文档尚未更新。"),
    *("The importer's docs remain to be written.", "Please port the parser to Rust."),
]
DECISIONS = [
    "I ended up using a bloom filter here; exact sets blew the memory.",
    "Postgres wins: we already run it.",
    "Settling for polling, webhooks are blocked by the firewall.",
    "考虑到兼容性，最后还是用了轮询。",
    "We keep Redis over Kafka as it needs no extra daemon.",
]
NO_RULES = [
    "We still have to write the docs.",
    "Never mind the importer, drop that.",
    "I don't remember the number, sorry.",
    "Which port must it use?",
    "昨天报错了，3 条记录失败。",
]


def said(text: str, role: Role = Role.USER) -> list[Message]:
    return [
        BEGIN,
        Message(role=Role.ASSISTANT, content="Sure."),
        Message(role=role, content=text),
        Message(role=Role.ASSISTANT, content="Reading on."),
        Message(role=Role.USER, content="ok"),
    ]


@pytest.mark.parametrize("text", RULES)
def test_a_rule_is_heard_however_it_is_put(text: str):
    assert texts(said(text), EvidenceKind.CONSTRAINT, status=LIVE) == [text]


@pytest.mark.parametrize("text", RULES)
def test_no_rule_comes_from_a_tool_or_the_agent(text: str):
    for role in (Role.TOOL, Role.ASSISTANT):
        assert found(said(text, role), EvidenceKind.CONSTRAINT) == []


@pytest.mark.parametrize("text", NO_RULES)
def test_what_only_sounds_like_a_rule_is_none(text: str):
    assert found(said(text), EvidenceKind.CONSTRAINT) == []


@pytest.mark.parametrize("text", TODOS)
def test_work_that_is_left_is_heard(text: str):
    assert texts(said(text), EvidenceKind.TODO, status=LIVE) == [text]


@pytest.mark.parametrize("text", DECISIONS)
def test_a_decision_is_heard_with_its_reason(text: str):
    messages = said(text, Role.ASSISTANT)

    assert texts(messages, EvidenceKind.DECISION) == [text]


CHANGES = [
    ("Indent the code with tabs.", "Use spaces, not tabs."),
    ("Reply in German.", "Please reply in English from here on."),
    ("回复请用英文。", "以后回复改成中文。"),
    ("Always run the shop checks with nox.", "Always run the shop checks with tox."),
    (
        "Please deploy the shop to the blue cluster.",
        "Don't deploy the shop to the blue cluster any more, take green.",
    ),
    (
        "The shop importer listens on port 8080, always.",
        "I changed my mind, the shop importer listens on port 9090 instead.",
    ),
    ("导出队列必须用 redis。", "导出队列改用 kafka 吧。"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_newer_choice_ends_the_older_one(old: str, new: str):
    messages = [*said(old), Message(role=Role.USER, content=new)]
    live = [
        item.text
        for kind in (EvidenceKind.CONSTRAINT, EvidenceKind.TODO)
        for item in found(messages, kind, status=LIVE)
    ]

    assert new in live
    assert old not in live


BOTH_HOLD = [
    ("Never push to main.", "Never push to release."),
    ("Nothing in src/a.py may change.", "Nothing in src/b.py may change."),
    ("At most 5 queries for the cart page.", "At most 9 queries for the order page."),
    ("Rotate the alpha certificate, please.", "Please rotate the beta certificate."),
    ("Always write the README in English.", "Always reply in German."),
    ("还需要写 alpha 航线导入器的文档。", "先别管 beta 航线导入器了，必须先修登录。"),
]


@pytest.mark.parametrize(("first", "second"), BOTH_HOLD)
def test_two_rules_about_two_things_both_hold(first: str, second: str):
    messages = [*said(first), Message(role=Role.USER, content=second)]
    live = {
        item.text
        for kind in (EvidenceKind.CONSTRAINT, EvidenceKind.TODO)
        for item in found(messages, kind, status=LIVE)
    }

    assert live >= {first, second}


def test_an_open_question_stays_open_until_it_is_answered():
    asked = [
        BEGIN,
        Message(role=Role.ASSISTANT, content="Which region hosts the shop?"),
    ]
    answered = [*asked, Message(role=Role.USER, content="The shop is in eu-west.")]

    assert len(found(asked, EvidenceKind.QUESTION, status=LIVE)) == 1
    assert found(answered, EvidenceKind.QUESTION, status=LIVE) == []


def test_reverted_ends_what_was_asked_for_last():
    messages = said("Please make the header blue again.")
    messages[3] = Message(role=Role.ASSISTANT, content="Reverted!")

    assert found(messages, EvidenceKind.TODO, status=LIVE) == []
