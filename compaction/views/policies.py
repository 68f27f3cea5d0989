"""Presets and profiles side by side; profiles made, changed and deleted by admins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import (
    require_http_methods,
    require_safe,
)

from compaction.engine.policy import PolicyError
from compaction.engine.presets import DEFAULT
from compaction.forms.policies import ProfileForm, show_value, unit_word, write_values
from compaction.forms.policy_fields import GROUPS, FieldGroup, FieldText
from compaction.models import PolicyProfile
from compaction.selectors.policies import (
    Column,
    find_profile,
    policy_columns,
    preset_below,
)
from compaction.services.profiles import ProfileConflict, delete_profile, save_profile
from compaction.services.roles import Verb
from compaction.views._access import allow, operator_of
from compaction.views._render import go_to, page_or_fragment, render_page


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value of one policy, as words; `differs` from the default."""

    value: str
    differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One value over all policies."""

    field: FieldText
    unit: str
    cells: Sequence[Cell]

    @property
    def differs(self) -> bool:
        """True when some policy departs from the default."""
        return any(cell.differs for cell in self.cells)


@require_safe
@allow(Verb.VIEW)
def list_policies(request: HttpRequest) -> HttpResponse:
    """Show every preset and profile, value by value, against the default."""
    columns = policy_columns()
    only = request.GET.get("only") == "differences"
    groups = [(group, list(_rows(group, columns, only=only))) for group in GROUPS]
    context = {
        "page": "policies",
        "columns": columns,
        "groups": [(group, rows) for group, rows in groups if rows],
        "only": only,
    }
    return render_page(request, "compaction/policies/list.html", context)


def _rows(group: FieldGroup, columns: Sequence[Column], *, only: bool) -> Iterator[Row]:
    for field in group.fields:
        cells = [_cell(field, column) for column in columns]
        row = Row(field=field, unit=unit_word(field.unit), cells=cells)
        if row.differs or not only:
            yield row


def _cell(field: FieldText, column: Column) -> Cell:
    value = getattr(column.policy, field.name)
    return Cell(
        value=show_value(field, value), differs=value != getattr(DEFAULT, field.name)
    )


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.EDIT_PROFILES)
def make_profile(request: HttpRequest) -> HttpResponse:
    """Show the form of a new profile; save what comes back."""
    preset = request.GET.get("preset", "default")
    if request.method != "POST":
        return _show_form(request, ProfileForm(initial={"preset": preset}))
    return _save(request, None)


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.EDIT_PROFILES)
def change_profile(request: HttpRequest, name: str) -> HttpResponse:
    """Show the form of a profile; save what comes back."""
    profile = _find(name)
    if request.method == "POST":
        return _save(request, profile)
    initial = {
        **write_values(profile.overrides),
        "name": profile.name,
        "preset": profile.preset,
        "note": profile.note,
        "base_version": profile.version,
    }
    form = ProfileForm(initial=initial, below=preset_below(profile.preset))
    return _show_form(request, form, profile)


def _find(name: str) -> PolicyProfile:
    profile = find_profile(name)
    if profile is None:
        raise Http404
    return profile


def _save(request: HttpRequest, profile: PolicyProfile | None) -> HttpResponse:
    below = preset_below(request.POST.get("preset", "default"))
    form = ProfileForm(request.POST, below=below)
    if not form.is_valid():
        return _show_form(request, form, profile)
    try:
        saved = save_profile(
            form.to_draft(), operator=operator_of(request), profile=profile
        )
    except PolicyError as error:
        form.refuse(error)
        return _show_form(request, form, profile)
    if isinstance(saved, ProfileConflict):
        return _show_conflict(request, form, profile, saved)
    said = gettext("The profile “%(name)s” is saved.") % {"name": saved.name}
    messages.success(request, said)
    return go_to(request, reverse("policy-list"))


def _show_form(
    request: HttpRequest,
    form: ProfileForm,
    profile: PolicyProfile | None = None,
    **more: Any,
) -> HttpResponse:
    context = {"page": "policies", "form": form, "profile": profile, **more}
    status = 422 if form.is_bound else 200
    return page_or_fragment(
        request,
        "compaction/policies/edit.html",
        "compaction/policies/_edit.html",
        context,
        status=more.get("status", status),
    )


def _show_conflict(
    request: HttpRequest,
    form: ProfileForm,
    profile: PolicyProfile | None,
    conflict: ProfileConflict,
) -> HttpResponse:
    """Show the form again, with theirs beside it; saving once more replaces theirs."""
    if profile is None:
        form.add_error("name", gettext("There is a profile of this name already."))
        return _show_form(request, form)
    theirs = conflict.theirs
    again = ProfileForm(
        initial={
            **{name: request.POST.get(name, "") for name in form.fields},
            "base_version": theirs.version if theirs else None,
        },
        below=preset_below(request.POST.get("preset", "default")),
    )
    return _show_form(request, again, profile, theirs=theirs, status=409)


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.EDIT_PROFILES)
def remove_profile(request: HttpRequest, name: str) -> HttpResponse:
    """Ask, then delete a profile; who follows it falls back to the default."""
    profile = _find(name)
    if request.method != "POST":
        context = {"page": "policies", "profile": profile}
        return render_page(request, "compaction/policies/delete.html", context)
    followers = delete_profile(profile, operator=operator_of(request))
    said = gettext(
        "The profile “%(name)s” is deleted; %(count)s conversations follow the default."
    )
    messages.success(request, said % {"name": name, "count": followers})
    return go_to(request, reverse("policy-list"))
