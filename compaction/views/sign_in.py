"""The way in: a one-time link, a button, and out again. There are no passwords."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from compaction.services.sign_in import Redeemed, Refusal, look_up, redeem

_BACKEND = "django.contrib.auth.backends.ModelBackend"
_NEXT = "go_to_after_sign_in"
_SIGNED_OUT = "signed_out"


@never_cache
@require_safe
def ask_to_sign_in(request: HttpRequest) -> HttpResponse:
    """Say how to get a link; remember where the person wanted to go."""
    if request.user.is_authenticated:
        return redirect("overview")
    wanted = request.GET.get("next", "")
    if _is_ours(request, wanted):
        request.session[_NEXT] = wanted
    context = {"is_signed_out": request.session.pop(_SIGNED_OUT, False)}
    return render(request, "compaction/sign_in/required.html", context)


@never_cache
def use_link(request: HttpRequest, token: str) -> HttpResponse:
    """Show the button of a link; the button signs in and uses the link up."""
    return (
        _redeem(request, token) if request.method == "POST" else _show(request, token)
    )


def _show(request: HttpRequest, token: str) -> HttpResponse:
    found = look_up(token)
    if isinstance(found, Refusal):
        return _refuse(request, found)
    context = {"name": found.name, "expires_at": found.expires_at}
    return render(request, "compaction/sign_in/confirm.html", context)


def _redeem(request: HttpRequest, token: str) -> HttpResponse:
    found = redeem(token)
    if not isinstance(found, Redeemed):
        return _refuse(request, found)
    wanted = request.session.pop(_NEXT, "")
    login(request, found.user, backend=_BACKEND)
    return redirect(wanted or "overview")


def _refuse(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    context = {"refusal": refusal.value}
    return render(request, "compaction/sign_in/expired.html", context, status=410)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session of this browser."""
    logout(request)
    request.session[_SIGNED_OUT] = True
    return redirect("sign-in")


def _is_ours(request: HttpRequest, address: str) -> bool:
    return url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
