"""The addresses that the navigation leads to, on a stage without pages."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path


def show_nothing(request: HttpRequest) -> HttpResponse:
    """Never asked: the stage answers for every address."""
    raise NotImplementedError


urlpatterns = [
    path("", show_nothing, name="overview"),
    path("sessions/", show_nothing, name="session-list"),
    path("runs/", show_nothing, name="run-list"),
    path("policies/", show_nothing, name="policy-list"),
    path("endpoints/", show_nothing, name="endpoint-list"),
    path("import/", show_nothing, name="import"),
    path("sign-out/", show_nothing, name="sign-out"),
]
