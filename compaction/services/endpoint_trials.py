"""Testing an endpoint: one small, real request with a short deadline."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime

from django.utils import timezone

from compaction import wiring
from compaction.engine.llm import ChatRequest, Completion, ModelError
from compaction.engine.recovery.classification import classify
from compaction.models import Endpoint
from compaction.store import storable
from compaction.store.endpoint_trials import Trial

TRIAL_SECONDS = 15.0
_ANSWER_TOKENS = 16
_QUESTION = "Answer with the one word OK."


def try_endpoint(spec: wiring.EndpointSpec) -> Trial:
    """Ask an endpoint one thing; whatever goes wrong is in the result."""
    started = timezone.now()
    hurried = replace(spec, timeout=min(TRIAL_SECONDS, spec.timeout))
    request = ChatRequest(
        messages=({"role": "user", "content": _QUESTION},), max_tokens=_ANSWER_TOKENS
    )
    try:
        answer = wiring.build_chat(hurried).complete(request)
    except ModelError as error:
        return _failed(error, started)
    return _answered(answer, started)


def _answered(answer: Completion, started: datetime) -> Trial:
    return Trial(
        at=started.isoformat(),
        latency=round(answer.latency, 3),
        model=storable(answer.model)[:128],
    )


def _failed(error: ModelError, started: datetime) -> Trial:
    took = (timezone.now() - started).total_seconds()
    return Trial(
        at=started.isoformat(),
        latency=round(took, 3),
        kind=error.kind.value,
        reason=classify(error).reason.value,
        status=error.status,
        code=storable(error.code or "")[:64],
        message=storable(error.message)[:600],
    )


def note_trial(endpoint: Endpoint, trial: Trial) -> None:
    """Keep the newest test beside the endpoint; a test is no change of it."""
    Endpoint.objects.filter(pk=endpoint.pk).update(trial=asdict(trial))
