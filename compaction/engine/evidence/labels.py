"""The few fixed words of an embedded summary, in English and Chinese.

Headings stay English in both; everything else is the conversation's own text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Words that the writer puts before and after what it quotes."""

    note: str
    newest: str
    asked: str
    answered: str
    last_reply: str
    announced: str
    waiting: str
    open_question: str
    in_progress: str
    constraint: str
    fact: str
    error: str
    fixed: str
    read: str
    tools: str
    left_out: str
    nothing: str
    no_goal: str
    kinds: Mapping[str, str]  # names of kinds of evidence, their own by default


ENGLISH = Labels(
    note="(Embedded summary: written by rules from the messages, without a model.)",
    newest="Newest request: ",
    asked="Asked: ",
    answered=" → ",
    last_reply="Last reply: ",
    announced="Announced: ",
    waiting="Waiting for the user: ",
    open_question="Open question: ",
    in_progress="In progress: ",
    constraint="Constraint: ",
    fact="Fact: ",
    error="Error: ",
    fixed=" (gone later)",
    read="Read only: ",
    tools="Tools used: ",
    left_out="(Left out for space: {})",
    nothing="None",
    no_goal="See the first messages",
    kinds={},
)
CHINESE = Labels(
    note="（内置摘要：按规则从消息中提取，未使用模型。）",
    newest="最新请求：",
    asked="用户要求：",
    answered=" → ",
    last_reply="最近回复：",
    announced="已预告：",
    waiting="等待用户：",
    open_question="未答的问题：",
    in_progress="进行中：",
    constraint="约束：",
    fact="事实：",
    error="错误：",
    fixed="（后来已消失）",
    read="仅读取：",
    tools="使用过的工具：",
    left_out="（因篇幅省略：{}）",
    nothing="无",
    no_goal="见最前面的消息",
    kinds={
        "request": "请求",
        "constraint": "约束",
        "todo": "待办",
        "decision": "决定",
        "done": "已完成",
        "file": "文件",
        "command": "命令",
        "error": "错误",
        "identifier": "标识",
        "value": "参数",
    },
)
ALL = (ENGLISH, CHINESE)

NOTES = re.compile(
    "|".join(re.escape(labels.note) for labels in ALL)
    + r"|\(Left out for space: [^)\n]{0,300}\)|（因篇幅省略：[^）\n]{0,300}）"
)
NOTHING = frozenset(
    {
        "none",
        "none.",
        "(none)",
        "n/a",
        "nothing",
        "(nothing)",
        "none currently",
        "see the first messages",
        "见最前面的消息",
        "无",
        "暂无",
    }
)


def strip_label(text: str, name: str) -> str | None:
    """Return a text without one of its labels, None when it does not bear it."""
    for labels in ALL:
        label = getattr(labels, name)
        if text.startswith(label):
            return text[len(label) :]
    return None


GUARD = "» "
"""Before a text that begins like a label and is none."""

_LABELS = tuple(
    label
    for labels in ALL
    for name in Labels.__slots__
    if name
    not in ("note", "answered", "fixed", "left_out", "nothing", "no_goal", "kinds")
    for label in (getattr(labels, name),)
)


def guarded(text: str) -> str:
    """Return a text so that nobody takes its beginning for a label."""
    return f"{GUARD}{text}" if text.startswith((*_LABELS, GUARD)) else text
