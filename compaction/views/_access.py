"""Who may do what: checked in views, since a fragment can be asked for alone.

Somebody without a role sees nothing (404); an act that one may see but not do is
answered with 403. Templates leave out what `can` does not allow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
)

from compaction.services.roles import Verb, can

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def allow(verb: Verb) -> Callable[[View[P]], View[P]]:
    """Let a view be used by people who may do this.

    The outermost guard after the allowed methods: `@require_safe`, `@allow(Verb.VIEW)`.
    """

    def guard(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(
            request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            refusal = refusal_for(request, verb)
            return refusal or view(request, *args, **kwargs)

        return guarded

    return guard


def refusal_for(request: HttpRequest, verb: Verb) -> HttpResponseBase | None:
    """Return the answer to somebody who is not signed in, None to who may go on.

    Raises Http404 or PermissionDenied for the others.
    """
    if not request.user.is_authenticated:
        return _ask_to_sign_in(request)
    if not can(request.user, Verb.VIEW):
        raise Http404
    if not can(request.user, verb):
        raise PermissionDenied
    return None


def _ask_to_sign_in(request: HttpRequest) -> HttpResponseBase:
    if wants_json(request):
        return JsonResponse({"error": "sign_in_needed"}, status=401)
    answer = redirect_to_login(request.get_full_path())
    if request.headers.get("HX-Request") == "true":
        # Never swap the sign-in page into a panel.
        told = HttpResponse(status=204)
        told["HX-Redirect"] = answer["Location"]
        return told
    return answer


def operator_of(request: HttpRequest) -> User:
    """Return who acts; call it only behind `allow`."""
    assert isinstance(request.user, User)
    return request.user


def wants_json(request: HttpRequest) -> bool:
    """True for a script that asked for JSON and not for a page."""
    return request.get_preferred_type(["text/html", "application/json"]) == (
        "application/json"
    )
