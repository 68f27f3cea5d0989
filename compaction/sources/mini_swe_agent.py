"""mini-swe-agent trajectories (`.traj.json`): messages with an `extra` beside each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compaction.engine.messages import Kind, Message
from compaction.sources.conversations import opening_id, session_of, single
from compaction.sources.fields import instant, label, listing, mapping, text
from compaction.sources.openai_shape import prompt_tokens, read_message
from compaction.sources.sample import Sample
from compaction.sources.values import SourceConversation, SourceMessage

FORMAT = "mini_swe_agent"

_DROPPED = ("extra", "provider_specific_fields")


def matches(sample: Sample) -> bool:
    """Say whether a document is such a trajectory, by its name or its facts."""
    document = mapping(sample.document)
    if not isinstance(document.get("messages"), list):
        return False
    if text(document.get("trajectory_format")).startswith("mini-swe-agent"):
        return True
    info = mapping(document.get("info"))
    return {"exit_status", "submission", "model_stats"} <= info.keys()


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read the one conversation of a trajectory."""
    document = mapping(sample.document)
    raw_messages = listing(document.get("messages"))
    sample.check_count(len(raw_messages))
    messages = []
    for position, raw in enumerate(raw_messages):
        try:
            messages.append(_source(mapping(raw)))
        except ValueError as exc:
            raise sample.failure(f"message {position + 1}: {exc}") from None
    if not messages:
        return
    info = mapping(document.get("info"))
    task = label(document.get("instance_id"))
    session = session_of(
        messages,
        external_id=opening_id(messages, task),
        title=task,
        model=_model(info),
        end_reason=label(info.get("exit_status"), 64),
    )
    version = label(info.get("mini_version"), 32)
    meta = {"version": version} if version else {}
    yield single(session, source=FORMAT, agent="mini-swe-agent", meta=meta)


def _model(info: Mapping[str, Any]) -> str:
    model = mapping(mapping(info.get("config")).get("model"))
    return label(model.get("model_name"), 128)


def _source(raw: Mapping[str, Any]) -> SourceMessage:
    extra = mapping(raw.get("extra"))
    return SourceMessage(
        message=_message(raw),
        at=instant(extra.get("timestamp") or raw.get("timestamp")),
        usage_tokens=prompt_tokens(mapping(extra.get("response")).get("usage")),
    )


def _message(raw: Mapping[str, Any]) -> Message:
    tidy = {
        key: value
        for key, value in raw.items()
        if key not in _DROPPED and not (key == "function_call" and value is None)
    }
    if raw.get("role") == "exit":  # the harness' last word, no model ever saw it
        message = read_message({**tidy, "role": "user"})
        extra = {**message.extra, "source_role": "exit"}
        return message.evolve(kind=Kind.SYNTHETIC, extra=extra)
    return read_message(tidy)
