"""What is kept of real conversations that are not ours to commit, file by file.

Nobody planted facts in them: the evidence that our own rules find before a compaction
is looked for after it, so what the rules do not see does not count here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.quality.scene import Scene, scene_of
from bench.rows import Measured, Row, Rule, Skipped
from bench.workshop import Workshop
from compaction.adapters.embedded_summariser import EmbeddedSummariser
from compaction.engine.compactor import Compaction, compact
from compaction.engine.messages import Message, from_dict
from compaction.engine.outline import outline_of
from compaction.engine.policy import CompactionPolicy
from compaction.sources import SourceError, read_conversations

SHARED = Path(
    os.environ.get("HERMES_WEB_SHARED")
    or Path(__file__).resolve().parents[3] / "shared"
)
_SMALLEST, _LARGEST = 40_000, 200_000  # tokens of a window


def evidence_kept(workshop: Workshop) -> Measured:
    """The least share of live evidence that is told after one compaction."""
    scene = scene_of(workshop)
    shares: dict[str, float] = {}
    for name, messages in _logs(first_only=workshop.is_quick):
        done = compact_log(messages, scene)
        if done.summary is not None and done.summary.audit is not None:
            shares[name] = done.summary.audit.score
    if not shares:
        raise Skipped(f"no real logs in {SHARED}; HERMES_WEB_SHARED names their folder")
    note = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
    return Measured(ours=min(shares.values()), other=None, unit="", note=note)


def compact_log(messages: Sequence[Message], scene: Scene) -> Compaction:
    """Compact a whole log once, in a window that it fills by five sixths."""
    tokens = sum(fact.tokens for fact in outline_of(messages, scene.counter).facts)
    window = min(_LARGEST, max(_SMALLEST, int(tokens * 1.2)))
    policy = CompactionPolicy(context_length=window)
    return compact(messages, policy, EmbeddedSummariser(), scene.counter)


def _logs(*, first_only: bool) -> Iterator[tuple[str, Sequence[Message]]]:
    """Yield transcripts, and the first session of each conversation of Hermes."""
    files = sorted((SHARED / "transcripts").glob("*.json"))
    for path in files[:1] if first_only else files:
        raw = json.loads(path.read_text(encoding="utf-8"))["messages"]
        yield path.stem, [from_dict(message) for message in raw]
    databases = sorted((SHARED / "hermes" / "state").glob("*.db"))
    for path in () if first_only else databases:
        try:
            for number, conversation in enumerate(read_conversations(path)):
                first = conversation.sessions[0].messages
                yield f"{path.stem}-{number}", [item.message for item in first]
        except SourceError:
            continue


ROWS = (
    Row(
        name="evidence_kept",
        target="0.60",
        measure=evidence_kept,
        against="nothing: real logs, the evidence that our own rules find in them",
        rule=Rule.VALUE_FROM,
    ),
)
