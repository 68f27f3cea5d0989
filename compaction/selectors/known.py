"""What stood in an agent's window when it wrote a message."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, Sum

from compaction.models import Message, Session, Summary, TaskStateVersion
from compaction.selectors.survival import Missing, Traced, missing_at

MISSING_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The window just before a message.

    `whole` messages of this generation, `copied` ones that stayed from the one before
    (`shortened` of them are shorter than they were). `summary` is the revision in force
    at that time, `task` the version of the TaskState (None: none, or nobody knows,
    since the conversation was imported later: `task_is_unknown`).
    """

    message: Message
    whole: int
    copied: int
    shortened: tuple[int, ...]
    tokens: int
    summary: Summary | None
    summary_at: int | None
    task: TaskStateVersion | None
    task_is_unknown: bool
    missing: tuple[Missing, ...]
    missing_count: int


def known_at(session: Session, position: int, trace: Traced) -> Known | None:
    """Return what was in the window before a message; None when there is no such."""
    rows = Message.objects.filter(session=session)
    message = rows.filter(position=position).defer("body").first()
    if message is None:
        return None
    before = rows.filter(position__lt=position, inactive=False, dropped=False)
    copied = Q(origin_position__isnull=False)
    summary = Q(kind="summary")
    sums = before.aggregate(
        whole=Count("pk", filter=~copied & ~summary),
        copied=Count("pk", filter=copied),
        tokens=Sum("tokens"),
    )
    missing = missing_at(trace, session, position)
    task, is_unknown = _task_at(session, message.at)
    places = before.filter(summary).order_by("-position").values_list("position")
    return Known(
        message=message,
        whole=sums["whole"],
        copied=sums["copied"],
        shortened=_shortened(session, position),
        tokens=sums["tokens"] or 0,
        summary=_summary_at(session, message.at),
        summary_at=next((place for (place,) in places[:1]), None),
        task=task,
        task_is_unknown=is_unknown,
        missing=tuple(missing[:MISSING_SHOWN]),
        missing_count=len(missing),
    )


def _shortened(session: Session, position: int) -> tuple[int, ...]:
    """Positions of copies that have fewer characters than what they copy."""
    if session.parent_id is None:
        return ()
    rows = Message.objects.filter(
        session=session, position__lt=position, origin_session=session.parent_id
    )
    columns = rows.values_list("origin_position", "chars", "position")
    copies = {o: (chars, place) for o, chars, place in columns if o is not None}
    originals = Message.objects.filter(session_id=session.parent_id)
    sizes = originals.filter(position__in=list(copies)[:5_000])
    return tuple(
        sorted(
            copies[origin][1]
            for origin, chars in sizes.values_list("position", "chars")
            if copies[origin][0] < chars
        )
    )


def _summary_at(session: Session, at: datetime | None) -> Summary | None:
    """Return the revision in force when a message was written, else the first one."""
    rows = Summary.objects.filter(session=session).order_by("revision")
    found = list(rows.select_related("author"))
    known = [row for row in found if at is None or row.created_at <= at]
    return known[-1] if known else next(iter(found), None)


def _task_at(
    session: Session, at: datetime | None
) -> tuple[TaskStateVersion | None, bool]:
    rows = TaskStateVersion.objects.filter(
        task_state__conversation_id=session.conversation_id
    ).order_by("-version")
    if at is None:
        return None, rows.exists()
    found = rows.filter(created_at__lte=at).first()
    return found, found is None and rows.exists()
