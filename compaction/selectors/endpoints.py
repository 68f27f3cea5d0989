"""Endpoints as the page shows them: who is asked for what, and who waits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from compaction import wiring
from compaction.models import Endpoint
from compaction.store.endpoint_trials import Trial, trial_of


class Task(StrEnum):
    """What an endpoint does, as codes for the templates."""

    PRIMARY = "primary"
    FALLBACK = "fallback"  # `place` counts them
    SUMMARIES = "summaries"
    SUMMARIES_WAITING = "summaries_waiting"  # another one writes them
    TURNS_WAITING = "turns_waiting"  # of the environment: the page has others
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One endpoint; `endpoint` is None for one of the environment.

    `place` is 0 for the primary, n for the n-th fallback.
    """

    spec: wiring.EndpointSpec
    tasks: Sequence[Task]
    place: int = 0
    endpoint: Endpoint | None = None
    trial: Trial | None = None
    is_first: bool = False
    is_last: bool = False

    @property
    def is_unencrypted(self) -> bool:
        """True for http to anywhere but this machine."""
        url = self.spec.base_url.lower()
        near = ("http://127.", "http://localhost", "http://[::1]")
        return url.startswith("http://") and not url.startswith(near)

    @property
    def lacks_key(self) -> bool:
        """True when a key is named and not there."""
        return bool(self.spec.key_env) and not self.spec.has_key


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointsPage:
    """All endpoints: those of the page in their order, those of the environment.

    `turns` and `summaries` are who is asked now.
    """

    cards: Sequence[Card]
    environment: Sequence[Card]
    turns: Sequence[wiring.EndpointSpec]
    summaries: wiring.EndpointSpec | None


def endpoints_page() -> EndpointsPage:
    """Return all endpoints with what each one does now."""
    turns = wiring.turn_endpoints()
    summaries = wiring.summariser_endpoint()
    now = _Now(turns=[spec.name for spec in turns], summaries=_name(summaries))
    rows = list(Endpoint.objects.all())
    return EndpointsPage(
        cards=[_stored(row, now, rows) for row in rows],
        environment=[_of_environment(s, now) for s in wiring.environment_endpoints()],
        turns=turns,
        summaries=summaries,
    )


def find_endpoint(name: str) -> Endpoint | None:
    """Return an endpoint of the page, or None."""
    return Endpoint.objects.filter(name=name).first()


def find_environment_endpoint(name: str) -> wiring.EndpointSpec | None:
    """Return an endpoint of the environment, or None."""
    found = (spec for spec in wiring.environment_endpoints() if spec.name == name)
    return next(found, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Now:
    """Who is asked now, by name."""

    turns: Sequence[str]
    summaries: str


def _name(spec: wiring.EndpointSpec | None) -> str:
    return spec.name if spec else ""


def _stored(row: Endpoint, now: _Now, rows: Sequence[Endpoint]) -> Card:
    return Card(
        spec=wiring.to_spec(row),
        tasks=_tasks(row.name, now, waits=row.enabled and row.writes_summaries),
        place=_place(row.name, now.turns),
        endpoint=row,
        trial=trial_of(row.trial),
        is_first=row == rows[0],
        is_last=row == rows[-1],
    )


def _of_environment(spec: wiring.EndpointSpec, now: _Now) -> Card:
    tasks = list(_tasks(spec.name, now, waits=True))
    answers_turns = spec.name == wiring.ENVIRONMENT
    if answers_turns and spec.name not in now.turns:
        tasks.insert(0, Task.TURNS_WAITING)
    return Card(spec=spec, tasks=tasks, place=_place(spec.name, now.turns))


def _tasks(name: str, now: _Now, *, waits: bool) -> Sequence[Task]:
    found = list(_turn_tasks(name, now.turns))
    if name == now.summaries:
        found.append(Task.SUMMARIES)
    elif waits:
        found.append(Task.SUMMARIES_WAITING)
    return found or [Task.NONE]


def _turn_tasks(name: str, turns: Sequence[str]) -> Iterable[Task]:
    if name in turns:
        yield Task.FALLBACK if turns.index(name) else Task.PRIMARY


def _place(name: str, turns: Sequence[str]) -> int:
    return turns.index(name) if name in turns else 0
