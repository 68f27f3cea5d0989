"""Pages, asked for by people: operator, viewer, stranger."""

from __future__ import annotations
