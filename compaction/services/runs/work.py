"""Doing a run: claim, plan, summarise, assemble, save. Called by a worker.

No transaction is open while the model is asked. A second delivery of the same wake-up
finds nothing to claim; a worker that lost its lease changes nothing any more.
"""

from __future__ import annotations

import logging
import os
import socket
from contextlib import suppress
from dataclasses import replace
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from compaction import wiring
from compaction.engine.compactor import (
    UNCHANGED,
    failure_text,
    needs_stand_in,
    summarise,
    write_prompt,
)
from compaction.engine.phases.assembly import Assembly, assemble
from compaction.engine.phases.prompts import PREVIOUS_PART
from compaction.engine.phases.summary import (
    RuleSummariser,
    Summariser,
    SummaryFailed,
    SummaryResult,
)
from compaction.engine.plan import Outcome, Plan, Verdict
from compaction.engine.task_state import render
from compaction.models import Run
from compaction.services.cooldowns import active_cooldown
from compaction.services.crash_points import AFTER_CLAIM, BEFORE_CLAIM, reach
from compaction.services.heartbeat import keep_alive
from compaction.services.leases import Lease, LeaseLost, claim
from compaction.services.runs.context import RunContext, load_context
from compaction.services.runs.failures import (
    KEPT_ALL,
    PLACEHOLDER,
    STOOD_IN,
    Failure,
    fail_run,
)
from compaction.services.runs.hooks import call_after, call_before
from compaction.services.runs.memory_flush import flush_memory
from compaction.services.runs.progress import Progress
from compaction.services.runs.report import Result, finish_unchanged
from compaction.services.runs.results import Outdated, apply_result, finish_stuck
from compaction.store import readable
from compaction.store.task_states import newest_task_version

logger = logging.getLogger(__name__)


def perform_run(run_id: UUID, *, summariser: Summariser | None = None) -> None:
    """Do a run that is queued or was left behind; do nothing for any other.

    `summariser` writes the summary; None: who is set up for it does.
    A database that cannot be used passes through as an error: the row stays as it
    is, and the sweeper sends another worker once the lease ran out.
    """
    limits = wiring.lease_limits()
    reach(BEFORE_CLAIM)
    # Durable: a caller's transaction would stay open while the model is asked.
    with transaction.atomic(durable=True):
        lease = claim(Run, run_id, terms=limits, worker=_signature())
    if lease is None:
        return
    reach(AFTER_CLAIM)
    try:
        _work(lease, limits.work_seconds, summariser)
    except LeaseLost:
        logger.info("Run %s was taken over or cancelled; nothing was changed.", run_id)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        logger.exception("Run %s failed unexpectedly.", run_id)
        with suppress(LeaseLost):
            fail_run(lease, Failure.unexpected(error))


def _signature() -> dict[str, object]:
    worker = f"{socket.gethostname()}:{os.getpid()}"[:128]
    started = Coalesce("started_at", timezone.now())
    return {"worker": worker, "started_at": started, "phase": Run.Phase.PLANNING}


def _work(lease: Lease, limit: float, summariser: Summariser | None) -> None:
    with keep_alive(lease, limit=limit) as pulse:
        progress = Progress(lease, pulse)
        context = replace(load_context(lease), summariser=summariser)
        is_change = context.plan.verdict not in UNCHANGED and not context.is_stale
        if is_change:
            call_before(context)
        made = _make(context, progress)
        pulse.check()
    _finish(context, made)
    if is_change:
        call_after(context)


def _finish(context: RunContext, made: Result | Outcome | Failure) -> None:
    if isinstance(made, Failure):
        fail_run(context.lease, made)
    elif isinstance(made, Outcome):
        finish_unchanged(context, made)
    else:
        _save(context, made)


def _make(context: RunContext, progress: Progress) -> Result | Outcome | Failure:
    """Do everything up to the result, and write nothing but progress."""
    plan = context.plan
    if context.is_stale:
        return Failure(reason="stale_plan")
    if plan.verdict in UNCHANGED:
        return UNCHANGED[plan.verdict]
    if plan.verdict is Verdict.PRUNE:
        return Result(assembly=_assemble(context, None, progress))
    return _summarise(context, progress)


def _choose_summariser(context: RunContext) -> tuple[Summariser | None, str]:
    """Return who writes the summary and as what; None: nobody before the cooldown ends.

    An agent that cannot go on otherwise gets the embedded summary in a cooldown
    (hermes#66390).
    """
    cooldown = active_cooldown(context.session.conversation)
    if cooldown is None or context.run.forced:
        return context.summariser or wiring.get_summariser(), ""
    if needs_stand_in(context.plan):
        return wiring.get_stand_in(), STOOD_IN
    return None, ""


def _summarise(context: RunContext, progress: Progress) -> Result | Outcome | Failure:
    summariser, action = _choose_summariser(context)
    if summariser is None:
        return Outcome.COOLDOWN
    flush_memory(context)
    is_rule = isinstance(summariser, RuleSummariser)
    progress.enter(
        Run.Phase.SUMMARISING,
        prompt="" if is_rule else prompt_text(context),
        summariser=summariser.name[:128],
    )
    try:
        summary = _ask(context, summariser, progress)
    except SummaryFailed as failed:
        failure = Failure.of(failed, endpoint=summariser.name)
        return _put_instead(context, failed, failure, progress)
    finally:
        progress.flush()
    assembly = _assemble(context, summary.text, progress)
    if assembly.outcome is Outcome.STUCK and not summary.embedded:
        return Result(
            assembly=assembly,
            summary=summary,
            failure=Failure.no_shrink(endpoint=summariser.name),
            action=KEPT_ALL,
        )
    return Result(assembly=assembly, summary=summary, action=action)


def _ask(
    context: RunContext, summariser: Summariser, progress: Progress
) -> SummaryResult:
    return summarise(
        _with_task(context),
        context.messages,
        summariser,
        counter=context.counter,
        on_chunk=progress.on_chunk,
    )


def _with_task(context: RunContext) -> Plan:
    """The plan beside the TaskState as it stands: what is told there is not lost."""
    task = render(newest_task_version(context.session.conversation).state)
    situation = replace(context.plan.situation, task=task)
    return replace(context.plan, situation=situation)


def prompt_text(context: RunContext) -> str:
    """Write down what is sent, part after part, as it is sent."""
    prompt = write_prompt(context.plan, context.messages)
    users = [
        prompt.user_text(part, PREVIOUS_PART if part else prompt.previous)
        for part in range(len(prompt.parts))
    ]
    return readable("\n\n".join([prompt.system, *users]))


def _put_instead(
    context: RunContext, failed: SummaryFailed, failure: Failure, progress: Progress
) -> Result | Failure:
    """Do what the policy says about a failed summary; by default keep everything."""
    text = failure_text(context.plan, failed)
    if needs_stand_in(context.plan):
        summary = _ask(context, wiring.get_stand_in(), progress)
        action = STOOD_IN
    elif text is not None:
        summary = SummaryResult(text=text, model="", embedded=True, calls=0)
        action = PLACEHOLDER
    else:
        return failure
    return Result(
        assembly=_assemble(context, summary.text, progress),
        summary=summary,
        failure=failure,
        action=action,
    )


def _assemble(context: RunContext, summary: str | None, progress: Progress) -> Assembly:
    progress.enter(Run.Phase.ASSEMBLING)
    assembly = assemble(context.plan, context.messages, summary, context.counter)
    progress.enter(Run.Phase.SAVING)
    return assembly


def _save(context: RunContext, result: Result) -> None:
    try:
        if result.assembly.outcome is Outcome.STUCK:
            finish_stuck(context, result)
        else:
            apply_result(context, result)
    except Outdated as outdated:
        fail_run(context.lease, Failure(reason=outdated.reason))
