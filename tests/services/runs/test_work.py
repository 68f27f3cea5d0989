"""Doing a run, from the claim to the new session."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from django.db import connection, transaction

from compaction import wiring
from compaction.engine.compactor import summarise
from compaction.engine.messages import Kind, Role
from compaction.engine.phases.assembly import assemble
from compaction.engine.phases.summary_text import SYSTEM_NOTE
from compaction.engine.tokens import RoughCounter
from compaction.engine.triggers import Trigger
from compaction.engine.validation import validate
from compaction.models import Cooldown, Run, RunChunk, Session, Summary
from compaction.services.cooldowns import active_cooldown, start_cooldown
from compaction.services.runs import results, work
from compaction.services.runs.starting import Refusal, RunRequest, cancel_run, queue_run
from compaction.services.runs.work import perform_run
from compaction.store import (
    NewMessage,
    load_messages,
    load_outline,
    summary_in_force,
    write_messages,
)
from tests.conversations import call, long_talk, long_work, say, store_session
from tests.server.replies import SUMMARY, Reply, failure
from tests.services.run_fixtures import POLICY, everything_of, preset, run_session

ASK = RunRequest(policy=POLICY)


@pytest.fixture
def session(db):
    return store_session(long_work())


@pytest.fixture
def endpoint(settings, scripted_openai):
    """The scripted server as the configured summariser."""
    settings.SUMMARISER_BASE_URL = scripted_openai.base_url
    settings.SUMMARISER_MODEL = "scripted"
    return scripted_openai


def test_a_run_makes_a_continuation_and_the_parent_keeps_everything(session):
    before = load_messages(session)
    run = run_session(session)

    child = run.result_session
    session.refresh_from_db()
    assert (run.status, run.outcome) == ("completed", "summarised")
    assert child.parent == session
    assert (child.link, child.generation) == ("compaction", 2)
    assert (child.conversation, child.compactions) == (session.conversation, 1)
    assert session.ended_at is not None
    assert session.end_reason == "compression"
    assert load_messages(session) == before


def test_a_copy_that_its_agent_had_ended_keeps_the_agents_reason(session):
    session.end_reason = "agent_close"
    session.save()
    run_session(session)

    session.refresh_from_db()
    assert session.end_reason == "agent_close"


def test_the_continuation_bears_the_next_title_and_an_id_of_its_time(session):
    child = run_session(session).result_session

    assert child.title == f"{session.title} #2"
    assert child.pk.startswith(f"{child.started_at:%Y%m%d_%H%M%S}_")


def test_the_new_messages_are_valid_smaller_and_know_their_origin(session):
    before = load_messages(session)
    run = run_session(session)
    child = run.result_session

    messages = load_messages(child)
    assert not [found for found in validate(messages) if found.is_error]
    assert len(messages) == run.messages_after == child.message_count
    assert run.tokens_after < 0.9 * run.tokens_before
    for row, message in zip(child.messages.all(), messages, strict=True):
        if row.origin_position is None:
            assert message.kind is not Kind.PLAIN
        else:
            assert row.origin_session_id == session.pk
            assert before[row.origin_position].role is message.role
    assert messages[-1] == before[-1]


def test_the_row_says_what_happened(session):
    run = run_session(session)

    assert run.finished_at >= run.started_at >= run.queued_at
    assert run.attempt == 1
    assert run.lease_until is None
    assert len(run.ledger) == session.message_count
    assert {entry["region"] for entry in run.ledger} >= {"head", "middle", "tail"}
    assert run.messages_summarised > 40
    assert run.embedded
    assert run.summariser
    assert run.prompt == ""  # nothing was sent to anybody


def test_the_summary_is_kept_apart_from_its_wrapping(session):
    run = run_session(session)

    summary = run.summaries.get()
    assert summary.session == run.result_session
    assert (summary.origin, summary.revision) == ("embedded", 1)
    assert not summary.text.startswith("[CONTEXT")
    assert "Goal" in [path for path, _ in summary.sections]
    assert summary_in_force(run.result_session) == summary


def test_the_conversation_stands_at_its_new_tip(session):
    run = run_session(session)

    conversation = run.result_session.conversation
    assert conversation.tip == run.result_session
    assert conversation.session_count == 2
    assert conversation.message_count == run.messages_after
    assert conversation.run_count == 1
    assert conversation.state == "idle"
    assert conversation.title == session.title


def test_a_second_run_updates_the_summary_of_the_first(session):
    first = run_session(session).result_session
    grown = store_more(first)
    second = run_session(grown).result_session

    assert second.generation == 3
    assert second.title.endswith("#3")
    newest = summary_in_force(second)
    assert newest.revision == 2
    assert newest.previous == summary_in_force(first)
    kinds = [message.kind for message in load_messages(second)]
    carried = [m for m in load_messages(second) if m.carried_summary]
    assert kinds.count(Kind.SUMMARY) + len(carried) == 1


def store_more(session):
    new = [NewMessage(message=m) for m in long_work()[1:]]
    write_messages(session, new, counter=RoughCounter())
    return session


def test_a_second_delivery_does_nothing(session):
    run = run_session(session)
    after = everything_of(session)
    perform_run(run.pk)
    perform_run(run.pk)

    assert everything_of(session) == after
    assert Session.objects.filter(parent=session).count() == 1
    assert Summary.objects.count() == 1


def test_a_wake_up_for_a_run_that_does_not_exist_does_nothing(db):
    perform_run("00000000-0000-0000-0000-000000000000")


def test_a_cancelled_run_is_not_done(session):
    run = queue_run(session, ASK).run
    before = everything_of(session)
    cancel_run(run.pk)
    perform_run(run.pk)

    assert everything_of(session) == before


def test_a_session_that_changed_while_the_run_waited_is_left_alone(session):
    run = queue_run(session, ASK).run
    Session.objects.filter(pk=session.pk).update(revision=session.revision + 1)
    before = everything_of(session)
    perform_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.outcome, run.reason) == ("failed", "aborted", "stale_plan")
    assert everything_of(session) == before
    assert not Cooldown.objects.exists()


def test_for_a_plan_that_is_stale_nobody_is_asked(session, endpoint):
    run = queue_run(session, ASK).run
    Session.objects.filter(pk=session.pk).update(revision=session.revision + 1)
    perform_run(run.pk)

    assert endpoint.requests == []


def test_a_task_state_that_changed_while_the_run_waited_makes_the_plan_stale(session):
    run = queue_run(session, ASK).run
    Session.objects.filter(pk=session.pk).update(system_tokens=500)
    perform_run(run.pk)

    run.refresh_from_db()
    assert run.reason == "stale_plan"


def test_a_small_conversation_has_nothing_to_compact(db):
    session = store_session([say(Role.USER, "hello"), say(Role.ASSISTANT, "hi")])
    before = everything_of(session)
    run = run_session(session)

    assert (run.status, run.outcome) == ("completed", "noop")
    assert run.reason
    assert everything_of(session) == before


def test_what_cannot_shrink_is_stuck_and_shown_as_such(db):
    huge = [say(Role.SYSTEM, "word " * 30_000), say(Role.USER, "go")]
    session = store_session([*huge, say(Role.ASSISTANT, "ok"), say(Role.USER, "on")])
    run = run_session(session, trigger=Trigger.PREFLIGHT)

    assert (run.status, run.outcome) == ("completed", "stuck")
    session.conversation.refresh_from_db()
    assert session.conversation.state == "stuck"
    assert not Session.objects.filter(parent=session).exists()


def test_a_live_agent_with_a_call_on_its_way_is_waited_for(db):
    session = store_session([*long_work(), call(999)])
    run = run_session(session)

    assert (run.status, run.outcome, run.reason) == (
        "completed",
        "deferred",
        "open_call",
    )


@pytest.mark.parametrize(
    "copied", [{"imported_from": "/logs/a.json"}, {"is_demo": True}]
)
def test_of_a_copy_nobody_will_answer_the_open_call(db, copied):
    session = store_session([*long_work(), call(999)], **copied)
    run = run_session(session)

    assert run.outcome == "summarised"
    assert load_messages(run.result_session)[-1].call_ids == ("call_999",)


def test_shortening_alone_makes_a_continuation_without_a_summary(db):
    session = store_session(long_work(60, words=300), window=200_000)
    policy = POLICY.evolve(context_length=80_000, prune_enough=0.6)
    run = run_session(session, policy=policy, trigger=Trigger.PREFLIGHT)

    assert (run.status, run.outcome) == ("completed", "pruned")
    child = run.result_session
    assert child.message_count == session.message_count
    assert child.tokens < session.tokens
    assert child.compactions == 0
    assert run.messages_pruned > 10
    assert not Summary.objects.exists()


def test_a_good_summary_ends_the_cooldown(session, operator):
    start_cooldown(session.conversation, seconds=600, reason="timeout")
    run_session(session, forced=True, operator=operator)

    assert active_cooldown(session.conversation) is None
    assert Cooldown.objects.get().cleared_why == "success"


def test_a_cooldown_that_began_while_the_run_waited_is_respected(session):
    run = queue_run(session, ASK).run
    start_cooldown(session.conversation, seconds=600, reason="timeout")
    perform_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.outcome) == ("completed", "cooldown")
    assert not Session.objects.filter(parent=session).exists()


def test_in_a_cooldown_an_agent_that_cannot_go_on_gets_the_embedded_summary(
    session, endpoint
):
    start_cooldown(session.conversation, seconds=600, reason="timeout")
    run = run_session(session, trigger=Trigger.CONTEXT_OVERFLOW)

    assert run.outcome == "summarised"
    assert run.embedded
    assert endpoint.requests == []
    assert active_cooldown(session.conversation) is not None


def test_a_continuation_that_appeared_meanwhile_wins(session, monkeypatch):
    """Another process continued the session between our plan and our result."""
    run = queue_run(session, ASK).run

    def assemble_late(*args):
        Session.objects.create(
            id="rival",
            conversation=session.conversation,
            parent=session,
            link=Session.Link.COMPACTION,
            started_at=session.started_at,
        )
        return assemble(*args)

    monkeypatch.setattr(work, "assemble", assemble_late)
    perform_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == ("failed", "superseded")
    assert [s.pk for s in Session.objects.filter(parent=session)] == ["rival"]


def test_a_fault_of_ours_fails_the_run_and_keeps_everything(session, monkeypatch):
    before = everything_of(session)

    def break_down(*args):
        raise ValueError("sk-abcdefghijklmnopqrstuvwxyz0123456789 in a message")

    monkeypatch.setattr(work, "assemble", break_down)
    run = run_session(session)

    assert (run.status, run.reason) == ("failed", "internal_error")
    assert "ValueError" in run.error
    assert "abcdefghijklmnop" not in run.error
    assert everything_of(session) == before
    assert not Cooldown.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_result_that_cannot_be_written_whole_is_not_written_at_all(monkeypatch):
    session = store_session(long_work())
    before = everything_of(session)

    def lose_messages(*args, **kwargs):
        return 1

    monkeypatch.setattr(results, "write_generation", lose_messages)
    run = run_session(session)

    assert (run.status, run.reason) == ("failed", "internal_error")
    assert everything_of(session) == before


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_the_model_is_asked(endpoint, monkeypatch):
    session = store_session(long_work())
    seen = []

    def watched(*args, **kwargs):
        seen.append(connection.in_atomic_block)
        return summarise(*args, **kwargs)

    monkeypatch.setattr(work, "summarise", watched)
    run = run_session(session)

    assert seen == [False]
    assert run.outcome == "summarised"


def test_what_is_sent_is_kept_with_the_run(session, endpoint):
    run = run_session(session, focus="the names")

    sent = endpoint.requests[0].body["messages"]
    assert run.prompt == "\n\n".join(message["content"] for message in sent)
    assert "the names" in run.prompt
    assert (run.summariser, run.embedded) == ("scripted", False)
    assert run.latency > 0
    assert run.usage["input_tokens"] > 0


def test_a_run_says_when_each_of_its_phases_began(session, endpoint):
    run = run_session(session)

    began = [datetime.fromisoformat(run.phase_started[p.value]) for p in Run.Phase]
    assert began == sorted(began)
    assert run.started_at <= began[0]
    assert began[-1] <= run.finished_at


def test_a_cooldown_names_the_run_whose_failure_started_it(session, endpoint):
    endpoint.play(failure(500))
    run = run_session(session)

    assert run.outcome == "aborted"
    assert active_cooldown(session.conversation).run == run


def test_streamed_text_is_kept_in_batches(session, endpoint):
    endpoint.play(Reply(text=SUMMARY, delay=0.03))
    run = run_session(session)

    chunks = RunChunk.objects.filter(run=run, attempt=1)
    assert "".join(chunk.text for chunk in chunks.order_by("seq")) == SUMMARY
    assert 1 < chunks.count() < 15


def test_a_run_shows_its_cost_when_both_prices_are_known(session, settings, endpoint):
    usage = {"prompt_tokens": 10_000, "completion_tokens": 500, "total_tokens": 10_500}
    endpoint.play(Reply(text=SUMMARY, usage=usage))
    settings.SUMMARISER_INPUT_PRICE = Decimal("0.25")
    settings.SUMMARISER_OUTPUT_PRICE = Decimal(2)
    run = run_session(session)

    assert f"{run.cost:.6f}" == "0.003500"


def test_without_prices_no_cost_is_shown(session, endpoint):

    assert run_session(session).cost is None


@pytest.mark.parametrize("name", ["hermes", "tutorial", "default"])
def test_every_preset_runs(db, name):
    session = store_session(long_talk())
    run = run_session(session, policy=preset(name))

    assert run.outcome == "summarised"
    child = run.result_session
    assert child.message_count == len(load_outline(child))


def test_a_run_of_a_rewound_session_leaves_the_rewound_messages_out(db):
    session = store_session(long_work())
    session.messages.filter(position=session.message_count - 1).update(inactive=True)
    run = run_session(session)

    child = run.result_session
    assert session.message_count - 1 not in child.messages.values_list(
        "origin_position", flat=True
    )


def test_summariser_window_is_part_of_the_plan(session, settings):
    embedded = queue_run(session, ASK).run
    Run.objects.update(status="failed")
    settings.SUMMARISER_BASE_URL = "http://127.0.0.1:9/v1"
    assert wiring.summariser_window() == settings.SUMMARISER_WINDOW
    assert queue_run(session, ASK).run.plan_hash != embedded.plan_hash


def test_a_finished_session_refuses_the_next_press_with_a_link_to_the_tip(session):
    child = run_session(session).result_session

    again = queue_run(session, ASK)
    assert again.refusal is Refusal.ALREADY_DONE
    assert again.tip == child


def test_running_inside_a_transaction_of_somebody_else_is_refused(transactional_db):
    session = store_session(long_work())
    run = queue_run(session, ASK).run

    with transaction.atomic(), pytest.raises(RuntimeError):
        perform_run(run.pk)


def test_a_system_prompt_that_is_kept_apart_is_told_of_the_summary_once(db):
    session = store_session([m for m in long_work() if m.role is not Role.SYSTEM])
    Session.objects.filter(pk=session.pk).update(system_prompt="Rules of the orchard.")
    session.refresh_from_db()

    child = run_session(session).result_session

    assert child.system_prompt.startswith("Rules of the orchard.")
    assert child.system_prompt.count(SYSTEM_NOTE) == 1
    assert child.system_tokens > session.system_tokens
    session.refresh_from_db()
    assert session.system_prompt == "Rules of the orchard."


def test_a_system_prompt_among_the_messages_is_noted_there_alone(session):
    child = run_session(session).result_session

    assert child.system_prompt == ""
    assert load_messages(child)[0].text.count(SYSTEM_NOTE) == 1
