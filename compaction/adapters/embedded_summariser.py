"""The summariser that needs no model: rules read the messages and fill the headings.

It stands in when no endpoint is configured, and when one is down and the agent cannot
go on otherwise. The same input gives the same summary, in time linear in its length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.engine.evidence.carry import read_previous
from compaction.engine.evidence.collect import collect
from compaction.engine.evidence.labels import CHINESE, ENGLISH, Labels
from compaction.engine.evidence.writing import write_items
from compaction.engine.messages import Kind, Message, Role
from compaction.engine.phases.redaction import redact
from compaction.engine.phases.summary_text import bare_summary
from compaction.engine.phases.transcript import is_cjk
from compaction.engine.policy import Template
from compaction.engine.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSummariser:
    """Writes summaries by rule; it never fails and costs nothing."""

    name: str = "embedded"

    def write_summary(
        self,
        messages: Sequence[Message],
        *,
        previous: str,
        template: Template,
        budget_tokens: int,
        counter: TokenCounter,
    ) -> str:
        """Write a bare summary of messages on top of the previous one.

        Body texts are quoted, so they keep the conversation's language; the first line
        says that no model wrote this.
        """
        return write_items(
            collect(messages, carried=read_previous(bare_summary(redact(previous)))),
            template,
            _labels_for(messages, previous),
            budget_tokens=budget_tokens,
            counter=counter,
        )


def _labels_for(messages: Sequence[Message], previous: str) -> Labels:
    """Follow the user; when no user speaks, the summary before."""
    messages = [m for m in messages if m.kind is not Kind.SUMMARY]
    if any(message.role is Role.USER and message.has_text for message in messages):
        return CHINESE if is_cjk(messages) else ENGLISH
    return CHINESE if CHINESE.note in previous else ENGLISH
