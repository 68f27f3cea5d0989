"""Every property a case may ask for, by its name; each asserts on a played case."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from compaction.engine.messages import Kind, Message, Role, to_dict
from compaction.engine.phases.summary_text import SUMMARY_END, SUMMARY_PREFIX
from compaction.engine.plan import Outcome
from compaction.engine.task_state import compose_system_prompt, render
from compaction.engine.tokens import count_message
from compaction.engine.triggers import is_over
from compaction.engine.validation import Fault, validate
from tests.cases.runner import COUNTER, Played, as_dicts

Check = Callable[[Played, Mapping[str, Any]], None]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    CHECKS[function.__name__] = function
    return function


def _sent(played: Played) -> list[dict[str, Any]]:
    return as_dicts(played.after)


def _was(played: Played, index: int) -> dict[str, Any]:
    return to_dict(played.before[index])


def _summaries(played: Played) -> list[Message]:
    return [m for m in played.after if m.kind is Kind.SUMMARY or m.carried_summary]


@check
def no_exception(played, prop):
    assert played.calls


@check
def input_not_mutated(played, prop):
    assert played.raw_after_input == played.raw_before


@check
def messages_unchanged(played, prop):
    assert played.after == played.before


@check
def first_message_is_system(played, prop):
    assert played.after[0].is_system


@check
def first_nonsystem_is_user(played, prop):
    assert Fault.FIRST_NOT_USER not in _faults(played)


@check
def has_user_message(played, prop):
    assert any(m.role is Role.USER for m in played.after)


@check
def no_adjacent_same_role(played, prop):
    sent = _sent(played)
    for before, message in pairwise(sent):
        role = message["role"]
        assert not (role == before["role"] and role in prop["roles"]), role


def _faults(played: Played) -> set[Fault]:
    return {finding.fault for finding in validate(played.after)}


@check
def no_orphan_tool_results(played, prop):
    assert Fault.ORPHAN_RESULT not in _faults(played)


@check
def no_unanswered_tool_calls(played, prop):
    assert not _faults(played) & {Fault.UNANSWERED_CALL, Fault.OPEN_CALL}


@check
def tool_results_adjacent_to_call(played, prop):
    assert Fault.RESULT_NOT_ADJACENT not in _faults(played)


@check
def all_or_none_of_group(played, prop):
    present = {i for m in played.after for i in (*m.call_ids, m.tool_call_id) if i}
    found = set(prop["ids"]) & present
    assert found in (set(), set(prop["ids"]))


@check
def group_verbatim(played, prop):
    sent = _sent(played)
    assert _was(played, prop["call_index"]) in sent
    for message in played.before[prop["call_index"] :]:
        if message.tool_call_id in prop["ids"]:
            assert to_dict(message) in sent


@check
def no_fabricated_result(played, prop):
    assert prop["tool_call_id"] not in {m.tool_call_id for m in played.after}


@check
def last_user_verbatim(played, prop):
    assert _was(played, prop["index"]) in _sent(played)


@check
def verbatim_survives(played, prop):
    assert _was(played, prop["index"]) in _sent(played)


@check
def last_message_equals(played, prop):
    assert _sent(played)[-1] == _was(played, prop["index"])


@check
def token_estimate_between(played, prop):
    tokens = count_message(played.before[prop["index"]], COUNTER)
    assert prop["lo"] <= tokens <= prop["hi"]


@check
def should_compact(played, prop):
    assert is_over(played.plans[0].request_tokens, played.policy) is prop["value"]


@check
def token_ratio_below(played, prop):
    done = played.calls[-1]
    assert done.tokens_after / played.plans[0].tokens_before < prop["value"]


@check
def bytes_ratio_below(played, prop):
    before = len(json.dumps(as_dicts(played.before)))
    assert len(json.dumps(_sent(played))) / before < prop["value"]


@check
def summarizer_calls(played, prop):
    assert len(played.summariser.requests) <= prop["max"]


@check
def calls_per_step(played, prop):
    assert played.calls_per_step == prop["values"]


@check
def summarizer_input_below_tokens(played, prop):
    for request in played.summariser.requests:
        text = "".join(str(m["content"]) for m in request.messages)
        assert COUNTER.count(text) < prop["value"]


@check
def no_base64_to_summarizer(played, prop):
    assert "base64," not in played.summariser.sent


@check
def summary_count(played, prop):
    assert len(_summaries(played)) == prop["n"]


@check
def summary_marked(played, prop):
    for summary in _summaries(played):
        text = summary.carried_summary or summary.text
        assert text.startswith(SUMMARY_PREFIX)
        assert text.endswith(SUMMARY_END)


@check
def marker_occurrences(played, prop):
    whole = json.dumps(_sent(played), ensure_ascii=False)
    assert whole.count(SUMMARY_PREFIX) == prop["n"]


@check
def summary_not_growing(played, prop):
    sizes = [len(c.summary.text) for c in played.calls if c.summary]
    assert not sizes or max(sizes) <= prop["max_ratio"] * sizes[0]


@check
def nothing_after_last_user_is_summary(played, prop):
    users = [
        i
        for i, m in enumerate(played.after)
        if m.role is Role.USER and m.kind is Kind.PLAIN
    ]
    for message in played.after[users[-1] :]:
        assert message.kind is not Kind.SUMMARY
        assert message.carried_summary is None


@check
def summary_role_not_system(played, prop):
    assert all(not m.is_system for m in _summaries(played))


@check
def absent_from_summarizer_input(played, prop):
    for text in prop["texts"]:
        assert text not in played.summariser.sent


@check
def absent_from_summary(played, prop):
    for summary in _summaries(played):
        for text in prop["texts"]:
            assert text not in (summary.carried_summary or summary.text)


@check
def summary_contains(played, prop):
    whole = "\n".join(m.carried_summary or m.text for m in _summaries(played))
    for text in prop["texts"]:
        assert text in whole


@check
def args_json_valid(played, prop):
    were_valid = {
        call.id for m in played.before for call in m.tool_calls if _is_json(call)
    }
    for message in played.after:
        for call in message.tool_calls:
            if call.id in were_valid or not prop.get("was_valid_only"):
                assert _is_json(call)


def _is_json(call: Any) -> bool:
    try:
        json.loads(call.arguments)
    except ValueError:
        return False
    return True


@check
def image_parts(played, prop):
    assert sum(m.image_count for m in played.after) <= prop["max"]


@check
def no_message_lost(played, prop):
    assert [m.role for m in played.after] == [m.role for m in played.before]
    for was, now in zip(played.before, played.after, strict=True):
        assert now.call_ids == was.call_ids
        assert now.tool_call_id == was.tool_call_id
        assert was.is_result or now == was


@check
def task_state_unchanged(played, prop):
    state = played.options["task_state"]
    assert played.task_state.goal == state["goal"]
    for todo, raw in zip(played.task_state.todos, state["todos"], strict=True):
        assert (todo.id, todo.subject) == (str(raw["id"]), raw["subject"])
        assert todo.status.value == raw["status"]


@check
def task_state_not_in_messages(played, prop):
    rendered = render(played.task_state)
    assert all(rendered not in m.text for m in played.after)
    assert all(c.verdict is not None for c in played.plans)


@check
def render_contains(played, prop):
    prompt = compose_system_prompt(played.after[0].text, played.task_state)
    for text in prop["texts"]:
        assert text in prompt


@check
def no_new_system_message(played, prop):
    def count(messages):
        return sum(m.is_system for m in messages)

    assert count(played.after) == count(played.before)


@check
def delimiter_escaped(played, prop):
    for request in played.summariser.requests:
        user = str(request.messages[-1]["content"])
        assert user.count(prop["text"]) <= 1


@check
def empty_list_ok(played, prop):
    assert played.calls[0].outcome is Outcome.NOOP


@check
def no_empty_assistant_added(played, prop):
    before = sum(_is_empty(m) for m in played.before)
    assert sum(_is_empty(m) for m in played.after) <= before


def _is_empty(message: Message) -> bool:
    return (
        message.role is Role.ASSISTANT
        and not message.has_text
        and not message.tool_calls
    )
