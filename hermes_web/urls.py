"""Root of all addresses: everything belongs to the compaction app."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("compaction.urls")),
]
