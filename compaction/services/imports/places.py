"""Where foreign sessions go: ids that stay the same however often they are imported."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain

from compaction.engine.lineage import new_session_id
from compaction.models import Session
from compaction.services.imports.matching import Fate, Match
from compaction.services.imports.rows import Place
from compaction.services.imports.sessions import started_at
from compaction.sources.values import SourceConversation

_OUR_FORM = re.compile(r"\d{8}_\d{6}_[0-9a-f]{6}")
_ATTEMPTS = 1_000


def find_places(
    source: SourceConversation, matches: Sequence[Match], *, now: datetime
) -> list[Place]:
    """Return the place of each foreign session, in the order of the log."""
    taken: set[str] = set()
    places: list[Place] = []
    for match in matches:
        pk = _kept_id(match) or _free_id(source, match, taken, now=now)
        taken.add(pk)
        parent = match.session.parent
        foreign_parent = places[parent].pk if parent is not None else None
        places.append(Place(pk=pk, foreign_parent=foreign_parent))
    return places


def _kept_id(match: Match) -> str | None:
    is_ours = match.held is not None and match.fate is not Fate.BRANCHED
    return match.held.pk if match.held is not None and is_ours else None


def _free_id(
    source: SourceConversation, match: Match, taken: set[str], *, now: datetime
) -> str:
    """Keep the log's own id where it has our form, else derive one from the log.

    The same log gets the same ids in any database that holds nothing of it yet.
    """
    own = match.session.external_id
    for candidate in chain([own], _derived_ids(source, match, now=now)):
        if not _OUR_FORM.fullmatch(candidate) or candidate in taken:
            continue
        if not Session.objects.filter(pk=candidate).exists():
            return candidate
    raise RuntimeError(f"no free session id for {own}")


def _derived_ids(
    source: SourceConversation, match: Match, *, now: datetime
) -> Iterator[str]:
    session = match.session
    began = (started_at(session) or now).astimezone(UTC)
    branch = match.digests[match.shared] if match.fate is Fate.BRANCHED else ""
    known = (source.source, source.external_id, session.external_id, branch)
    for attempt in range(_ATTEMPTS):
        text = "\0".join([*known, str(session.generation), str(attempt)])
        raw = text.encode("utf-8", "surrogatepass")
        yield new_session_id(began, hashlib.blake2b(raw).hexdigest())
