"""Bringing conversations in: uploads, and Hermes homes found on this machine."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from compaction.forms.imports import UploadForm
from compaction.selectors.imports import find_import, hermes_homes, recent_imports
from compaction.services.imports.jobs import UploadRefused, cancel_import
from compaction.services.roles import Verb, can
from compaction.tasks import start_home_import, start_upload
from compaction.views._access import allow, operator_of
from compaction.views._render import go_to, page_or_fragment

BUSY_SECONDS = 1
QUIET_SECONDS = 10


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.IMPORT)
def import_files(request: HttpRequest) -> HttpResponse:
    """Take files and show how far recent imports are."""
    if request.method != "POST":
        return _show(request, UploadForm())
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _show(request, form)
    queued = [_queue(request, form, file) for file in form.uploads]
    if not any(queued):
        return _show(request, form)
    said = ngettext(
        "%(count)s file is being imported.",
        "%(count)s files are being imported.",
        sum(queued),
    )
    messages.success(request, said % {"count": sum(queued)})
    for refusal in form.errors.get("upload", ()):
        messages.error(request, str(refusal))
    return go_to(request, reverse("import"))


def _queue(request: HttpRequest, form: UploadForm, file: Any) -> bool:
    name = file.name or gettext("a file without a name")
    try:
        start_upload(file.chunks(), label=name, operator=operator_of(request))
    except UploadRefused as refused:
        form.add_error("upload", _refusal(refused, name))
        return False
    return True


def _refusal(refused: UploadRefused, name: str) -> str:
    if refused.reason == "empty":
        said = gettext("%(name)s is empty and was not taken.")
        return said % {"name": name[:120]}
    said = gettext(
        "%(name)s is larger than %(limit)s MB and was not taken. Import it on the "
        "machine: python manage.py import_sessions FILE"
    )
    return said % {"name": name[:120], "limit": f"{refused.limit >> 20:,}"}


def _show(request: HttpRequest, form: UploadForm) -> HttpResponse:
    recent = recent_imports()
    may_look = can(request.user, Verb.IMPORT_FROM_MACHINE)
    context = {
        "page": "import",
        "form": form,
        "recent": recent,
        "homes": hermes_homes() if may_look else (),
        "live_seconds": BUSY_SECONDS if recent.is_busy else QUIET_SECONDS,
        "now": timezone.now(),
    }
    return page_or_fragment(
        request,
        "compaction/imports/import.html",
        "compaction/imports/_jobs.html",
        context,
        status=422 if form.is_bound else 200,
    )


@require_POST
@allow(Verb.IMPORT_FROM_MACHINE)
def import_home(request: HttpRequest) -> HttpResponse:
    """Import a Hermes home that was found; no other folder can be named."""
    home = Path(request.POST.get("home", ""))
    job = start_home_import(home, operator=operator_of(request))
    if job is None:
        raise Http404
    messages.success(request, gettext("The Hermes home is being imported."))
    return go_to(request, reverse("import"))


@require_POST
@allow(Verb.IMPORT)
def stop_import(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    """Stop an import; what it brought in already stays."""
    if find_import(job_id) is None:
        raise Http404
    if cancel_import(job_id):
        said = gettext("The import was stopped; what it had brought in stays.")
        messages.success(request, said)
    else:
        messages.info(request, gettext("The import had already ended."))
    return go_to(request, reverse("import"))
