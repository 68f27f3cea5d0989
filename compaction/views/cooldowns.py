"""Ending a cooldown before its time."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from compaction.models import Session
from compaction.services.cooldowns import clear_cooldown
from compaction.services.roles import Verb
from compaction.views._access import allow, operator_of
from compaction.views._render import go_to
from compaction.views._sessions import with_session


@require_POST
@allow(Verb.CLEAR_COOLDOWN)
@with_session
def clear(request: HttpRequest, session: Session) -> HttpResponse:
    """Clear the cooldown of the session's conversation, then show where it was."""
    reason = request.POST.get("reason", "")[:255]
    if clear_cooldown(session.conversation, operator_of(request), reason=reason):
        said = gettext("The cooldown is cleared: the next summary may be asked for.")
        messages.success(request, said)
    else:
        messages.info(request, gettext("No cooldown was on any more."))
    return go_to(request, _way_back(request, session))


def _way_back(request: HttpRequest, session: Session) -> str:
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None)
    own = reverse("session-context", args=[session.pk])
    return wanted if is_ours and wanted.startswith("/") else own
