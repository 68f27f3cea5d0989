"""Addresses of the same page with other parameters."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpRequest


def query_with(request: HttpRequest, **changes: str | None) -> str:
    """Return the query string with some parameters set, or taken away with None.

    Always begins with "?", so that a link without parameters leads to the bare page.
    """
    query = request.GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value:
            query[name] = value
    return f"?{query.urlencode()}"


def query_toggling(
    request: HttpRequest, name: str, value: str, *, without: Iterable[str] = ()
) -> str:
    """Return the query string with one of several values of a parameter turned over."""
    query = request.GET.copy()
    for other in without:
        query.pop(other, None)
    values = query.getlist(name)
    turned = [one for one in values if one != value]
    query.setlist(name, turned if value in values else [*values, value])
    return f"?{query.urlencode()}"
