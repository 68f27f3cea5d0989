"""Policies in forms: a profile for many conversations, values for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy as _

from compaction.engine.policy import CompactionPolicy, PolicyError
from compaction.engine.presets import DEFAULT, PRESETS
from compaction.forms.policy_fields import FIELDS, GROUPS, FieldText
from compaction.models import PolicyProfile
from compaction.services.policies import PolicyChoice
from compaction.services.profiles import ProfileDraft

NONE = "none"

_REASONS = {
    "between 0 and 1": _("Must lie between 0 and 1."),
    "between 0 and 1, or empty": _("Must lie between 0 and 1, or be “none”."),
    "not negative": _("Must not be negative."),
    "at least 1": _("Must be at least 1."),
    "at least 1 token": _("Must be at least 1 token."),
    "at least 1 character": _("Must be at least 1 character."),
    "at least 100 tokens": _("Must be at least 100 tokens."),
    "must leave room in the window": _("Must leave room in the window."),
    "must hold the kept head and tail": _(
        "Must not be smaller than what is kept of start and end."
    ),
    "must hold the kept head": _("Must not be smaller than what is kept of the start."),
    "above 0 and not above summary_max": _(
        "Must be above 0 and not above the largest length."
    ),
    "small letters, digits and hyphens, at most 64": _(
        "Small letters, digits and hyphens, at most 64 of them."
    ),
    "is the name of a preset": _("Is the name of a preset."),
}
"""The engine's reasons as sentences; an unknown one is shown as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGroup:
    """Values that belong together, as a form shows them; `own` are filled in."""

    name: str
    label: Any
    fields: Sequence[forms.BoundField]
    own: int
    is_open: bool


class PolicyValuesForm(forms.Form):
    """One field for each value of a policy; an empty one is taken from below.

    `below` is the policy that holds where a field is empty.
    """

    def __init__(self, *args: Any, below: CompactionPolicy = DEFAULT, **kwargs: Any):
        super().__init__(*args, **kwargs)
        for text in FIELDS.values():
            self.fields[text.name] = _field(text, getattr(below, text.name))

    def values(self) -> dict[str, Any]:
        """Return what was filled in; call it on a valid form."""
        return {
            name: None if value == NONE else value
            for name in FIELDS
            if (value := self.cleaned_data.get(name, "").strip()) != ""
        }

    def groups(self) -> Iterator[ShownGroup]:
        """Yield the groups with their fields, for the template."""
        for group in GROUPS:
            fields = [self[field.name] for field in group.fields]
            own = sum(bool(field.value()) for field in fields)
            is_wrong = any(field.errors for field in fields)
            yield ShownGroup(
                name=group.name,
                label=group.label,
                fields=fields,
                own=own,
                is_open=bool(own) or is_wrong,
            )

    def refuse(self, error: PolicyError) -> None:
        """Put the engine's refusal beside the field that it is about."""
        field = error.field if error.field in self.fields else None
        self.add_error(field, str(_REASONS.get(error.reason, error.reason)))


def _field(text: FieldText, below: Any) -> forms.Field:
    inherited = show_value(text, below)
    if text.unit in ("choice", "flag"):
        taken = gettext("%(value)s (inherited)") % {"value": inherited}
        words = _flag_words() if text.unit == "flag" else (text.choices or {})
        choices = [("", taken), *((str(k), w) for k, w in words.items())]
        return forms.ChoiceField(
            label=text.label, help_text=text.help, choices=choices, required=False
        )
    hint = gettext("“none” switches it off.") if text.may_be_none else ""
    return forms.CharField(
        label=_with_unit(text),
        help_text=" ".join(filter(None, (str(text.help), hint))),
        max_length=32,
        required=False,
        widget=forms.TextInput(
            attrs={"placeholder": inherited, "inputmode": "decimal"}
        ),
    )


def _with_unit(text: FieldText) -> str:
    unit = unit_word(text.unit)
    return f"{text.label} ({unit})" if unit else str(text.label)


def _flag_words() -> Mapping[str, Any]:
    return {"true": gettext("yes"), "false": gettext("no")}


def unit_word(unit: str) -> str:
    """Return the name of a unit."""
    words = {
        "ratio": gettext("0 … 1"),
        "tokens": gettext("tokens"),
        "chars": gettext("characters"),
        "messages": gettext("messages"),
        "runs": gettext("runs"),
        "turns": gettext("turns"),
    }
    return words.get(unit, "")


def show_value(text: FieldText, value: Any) -> str:
    """Write a value of a policy for people: 0.5 -> "0.5", None -> "none"."""
    if value is None:
        return gettext(NONE)
    if text.choices is not None:
        return str(text.choices.get(value, value))
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def write_values(values: Mapping[str, Any]) -> dict[str, str]:
    """Write stored values as a form shows them."""
    return {name: _write(value) for name, value in values.items() if name in FIELDS}


def _write(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, bool):
        return str(value).lower()
    return str(getattr(value, "value", value))


class ProfileForm(PolicyValuesForm):
    """A profile: its name, the preset under it, and what it changes."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_("Small letters, digits and hyphens."),
        max_length=64,
    )
    preset = forms.ChoiceField(
        label=_("Preset below"), choices=[(name, name) for name in PRESETS]
    )
    note = forms.CharField(
        label=_("What it is for"),
        required=False,
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    base_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def to_draft(self) -> ProfileDraft:
        """Return what the service takes; call it on a valid form."""
        return ProfileDraft(
            name=self.cleaned_data["name"],
            preset=self.cleaned_data["preset"],
            overrides=self.values(),
            note=self.cleaned_data["note"],
            base_version=self.cleaned_data["base_version"],
        )


class ConversationPolicyForm(PolicyValuesForm):
    """What one conversation follows, and the values it has of its own."""

    follows = forms.ChoiceField(
        label=_("Follows"),
        help_text=_("A profile or a preset; the values below come on top."),
    )
    reason = forms.CharField(
        label=_("Reason, kept with the action"), max_length=255, required=False
    )

    def __init__(self, *args: Any, profiles: list[PolicyProfile], **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._profiles = {f"profile:{profile.pk}": profile for profile in profiles}
        field = self.fields["follows"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            *((f"preset:{name}", _preset_word(name)) for name in PRESETS),
            *((key, profile.name) for key, profile in self._profiles.items()),
        ]

    def to_choice(self) -> PolicyChoice:
        """Return what the service takes; call it on a valid form."""
        kind, _mark, name = self.cleaned_data["follows"].partition(":")
        profile = self._profiles.get(self.cleaned_data["follows"])
        preset = name if kind == "preset" else "default"
        return PolicyChoice(profile=profile, preset=preset, values=self.values())


def _preset_word(name: str) -> str:
    return gettext("preset %(name)s") % {"name": name}
