"""A page and its fragment: same view, same context, two templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from compaction.selectors.navigation import navigation_counts
from compaction.services.roles import Verb, can, role_of

_VARY = ("HX-Request", "HX-Request-Type")


def wants_fragment(request: HttpRequest) -> bool:
    """True when htmx will put the answer into a part of the page.

    htmx 4 says "full" when it replaces the body or selects from the answer.
    """
    return (
        request.headers.get("HX-Request") == "true"
        and request.headers.get("HX-Request-Type", "partial") == "partial"
    )


def page_or_fragment(
    request: HttpRequest,
    page: str,
    fragment: str,
    context: Mapping[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    """Render the fragment for htmx and the page around it for everybody else."""
    if wants_fragment(request):
        return render_fragment(request, fragment, context, status=status)
    return render_page(request, page, context, status=status)


def render_fragment(
    request: HttpRequest,
    fragment: str,
    context: Mapping[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    """Render a part of a page with what the reader may do."""
    frame = {"may": permissions_of(request), "is_fragment": True}
    response = render(request, fragment, {**frame, **context}, status=status)
    patch_vary_headers(response, _VARY)
    return response


def render_page(
    request: HttpRequest, page: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render a whole page with what its frame shows: role and counts."""
    frame = {
        "may": permissions_of(request),
        "role": role_of(request.user),
        "nav": navigation_counts(),
    }
    response = render(request, page, {**frame, **context}, status=status)
    patch_vary_headers(response, _VARY)
    return response


def permissions_of(request: HttpRequest) -> Mapping[str, bool]:
    """Say for each verb whether the reader may do it: `{% if may.compact %}`."""
    return {verb.value: can(request.user, verb) for verb in Verb}


def go_to(request: HttpRequest, url: str) -> HttpResponse:
    """Send the browser to a page; htmx follows a redirect silently, so it is told."""
    response: HttpResponse
    if request.headers.get("HX-Request") == "true":
        response = HttpResponse(status=204)
        response["HX-Redirect"] = url
    else:
        response = HttpResponseRedirect(url, status=303)
    patch_vary_headers(response, _VARY)
    return response
