"""Rows of long lists, drawn once and kept while what they say stays the same.

Rendering, not the database, is the cost of a list: a row is a pure function of a
frozen value and the language, so its HTML is kept under that value.
"""

from __future__ import annotations

import secrets
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache

from django import template
from django.template.context import Context
from django.template.loader import get_template
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext

from compaction.selectors.messages import MessageRow
from compaction.selectors.search import Snippet
from compaction.selectors.sessions import Facts, Row
from compaction.templatetags.compaction_format import ago

register = template.Library()

# Stands for the page's nonce in rows that are kept. Nobody outside can know it, so
# that no transcript can contain it.
_NONCE = secrets.token_urlsafe(24)


@lru_cache(maxsize=4_096)
def _draw_session(
    facts: Facts,
    snippet: Snippet | None,
    language: Hashable,  # noqa: ARG001
) -> SafeString:
    context = {"facts": facts, "snippet": snippet}
    return mark_safe(get_template("compaction/sessions/_cells.html").render(context))


@lru_cache(maxsize=8_192)
def _draw_message(row: MessageRow, url: str, language: Hashable) -> SafeString:  # noqa: ARG001
    context = {"row": row, "url": url, "nonce": _NONCE}
    return mark_safe(get_template("compaction/context/_message.html").render(context))


_ROW = (
    '<tr id="c-{}" data-row tabindex="-1">{}<td class="sub" data-label="{}">'
    '<time datetime="{}" data-ago>{}</time></td></tr>\n'
)


@register.simple_tag
def session_rows(rows: Iterable[Row], snippets: Mapping[int, Snippet]) -> SafeString:
    """Draw conversations of a list; what tells the time is never kept."""
    label, language = gettext("Active"), get_language()
    return format_html_join(
        "",
        _ROW,
        (
            (
                row.pk,
                _draw_session(row.facts, snippets.get(row.pk), language),
                label,
                row.active_at.isoformat(),
                ago(row.active_at),
            )
            for row in rows
        ),
    )


@register.simple_tag(takes_context=True)
def message_rows(context: Context, rows: Sequence[MessageRow]) -> SafeString:
    """Draw messages of the list of `session`, one after another."""
    place = reverse("session-context", args=[context["session"].pk])
    exact, language = str(context.get("exact", "")), get_language()
    drawn = "".join(
        _draw_message(row, f"{place}messages/{row.position}/{exact}", language)
        for row in rows
    )
    return mark_safe(drawn.replace(_NONCE, str(context["CSP_NONCE"])))
