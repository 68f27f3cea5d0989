"""tau-bench results: a list of records, each with the trajectory of one trial.

The same `tool_call_id` may be used for several calls of one trajectory; nothing is
renamed, results belong to the nearest call before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compaction.sources.conversations import (
    UniqueIds,
    opening_id,
    session_of,
    single,
)
from compaction.sources.fields import label, listing, mapping
from compaction.sources.openai_shape import is_message_list, read_messages
from compaction.sources.sample import Sample
from compaction.sources.values import SourceConversation

FORMAT = "tau_bench"


def matches(sample: Sample) -> bool:
    """Say whether a document is a list of records (or one) with a trajectory."""
    return bool(_records(sample)) and all(map(_is_record, _records(sample)[:3]))


def _records(sample: Sample) -> list[Any]:
    if isinstance(sample.document, list):
        return sample.document
    return list(sample.records) or [sample.document]


def _is_record(value: object) -> bool:
    fields = mapping(value)
    has_trajectory = is_message_list(fields.get("traj"))
    return has_trajectory and bool({"task_id", "trial", "reward"} & fields.keys())


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read one conversation per trial."""
    ids = UniqueIds()
    if isinstance(sample.document, list):
        for position, record in enumerate(sample.document):
            place = f"record {position + 1}: "
            yield _conversation(mapping(record), sample, ids, place=place)
        return
    for line, record in sample.lines():
        yield _conversation(record, sample, ids, line=line)


def _conversation(
    record: Mapping[str, Any],
    sample: Sample,
    ids: UniqueIds,
    *,
    place: str = "",
    line: int | None = None,
) -> SourceConversation:
    try:
        sample.check_count(len(listing(record.get("traj"))))
        messages = read_messages(record.get("traj"))
    except ValueError as exc:
        raise sample.failure(f"{place}{exc}", line=line) from None
    if not messages:
        raise sample.failure(f"{place}empty trajectory", line=line)
    task, trial = label(record.get("task_id"), 64), label(record.get("trial"), 64)
    session = session_of(
        messages,
        external_id=ids.claim(opening_id(messages, task, trial)),
        title=f"task {task}, trial {trial}",
    )
    reward = label(record.get("reward"), 32)
    meta = {"reward": reward} if reward else {}
    return single(session, source=FORMAT, agent="tau-bench", meta=meta)
