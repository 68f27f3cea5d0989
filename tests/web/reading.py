"""Reading a page as a person does."""

from __future__ import annotations

import re
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
_UNREAD = re.compile(r"<(script|style|noscript)\b.*?</\1>", re.DOTALL)


def text_of(response: Any) -> str:
    """What stands on the page, on one line, without markup."""
    body = _UNREAD.sub(" ", response.content.decode())
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def count_queries(client: Client, address: str) -> int:
    """How many queries one page asks; counts that are kept for seconds are there."""
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    return len(queries)
