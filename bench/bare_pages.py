"""Bare pages: the same rows through the same middleware, and nothing else.

What a page of the console shows beside its rows (navigation, facets, ruler, plan) is
what it may cost more.
"""

from __future__ import annotations

from django.db.models.functions import Substr
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.urls import include, path

from compaction.models import Conversation, Message

ROWS = 50

_PAGE = "<!doctype html><title>Bare</title><table>{% for row in rows %}<tr>"
_END = "</tr>{% endfor %}</table>"
_CONVERSATION = """
<td>{{ row.state }}</td>
<td><a href="/sessions/{{ row.tip_id }}/">{{ row.title }}</a> {{ row.session_count }}
{{ row.source }} {{ row.agent }} {{ row.tip_id }}</td>
<td>{{ row.model }}</td><td>{{ row.fill }} {{ row.window }} {{ row.threshold }}</td>
<td>{{ row.tokens }} {{ row.tokens_origin }}</td><td>{{ row.message_count }}</td>
<td>{{ row.run_count }}</td><td>{{ row.last_error }}</td>
<td>{{ row.active_at|date:"c" }}</td>
"""
_MESSAGE = """
<td>{{ row.position }}</td><td>{{ row.role }} {{ row.kind }} {{ row.at|date:"c" }}</td>
<td>{{ row.preview }}
{% for call in row.calls %}<code>{{ call.1 }}({{ call.2 }})</code>{% endfor %}
{{ row.chars }} {{ row.images }}</td>
<td>{{ row.tokens }} {{ row.pruned_tokens }}</td>
"""
_django = engines["django"]
_conversations = _django.from_string(f"{_PAGE}{_CONVERSATION}{_END}")
_messages = _django.from_string(f"{_PAGE}{_MESSAGE}{_END}")


def list_conversations(request: HttpRequest) -> HttpResponse:
    """Show these conversations."""
    rows = Conversation.objects.only(
        *("tip_id", "title", "source", "agent", "model", "state", "window", "tokens"),
        *("tokens_origin", "threshold", "fill", "session_count", "run_count"),
        *("message_count", "last_error", "active_at"),
    )
    found = rows.filter(pk__in=request.GET["ids"].split(",")).order_by("-active_at")
    return HttpResponse(_conversations.render({"rows": found}, request))


def list_messages(request: HttpRequest, session_id: str) -> HttpResponse:
    """Show fifty messages of a session from a position on, their first characters."""
    start = int(request.GET.get("at", "0"))
    rows = (
        Message.objects.filter(session=session_id, position__gte=start)
        .only(
            *("position", "role", "kind", "at", "calls", "chars", "images"),
            *("tokens", "pruned_tokens"),
        )
        .annotate(preview=Substr("text", 1, 400))
        .order_by("position")
    )
    return HttpResponse(_messages.render({"rows": rows[:ROWS]}, request))


urlpatterns = [
    path("bare/sessions/", list_conversations),
    path("bare/sessions/<str:session_id>/", list_messages),
    path("", include("hermes_web.urls")),
]
