"""Addresses of the same page with other parameters."""

from __future__ import annotations

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
