"""An endpoint in a form."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from compaction.models import Endpoint
from compaction.services.endpoints import EndpointDraft, EndpointFault

_REASONS = {
    "slug": _("Small letters, digits and hyphens, at most 64 of them."),
    "reserved": _("This name is kept for the console itself. Choose another one."),
    "taken": _("There is an endpoint of this name already."),
    "scheme": _("Must begin with https:// or http://."),
    "credentials": _(
        "Must hold no user name and no password. A key goes into an environment "
        "variable."
    ),
    "host": _("Names no server."),
    "port": _("The port must be a number between 1 and 65535."),
    "extras": _("Must end with the path: no question mark and no #."),
    "characters": _("Must hold no spaces, control characters or backslashes."),
    "odd_address": _("Write the address in the usual form, such as 192.0.2.1."),
    "forbidden": _(
        "Leads to an address where no model answers (metadata of a cloud, multicast "
        "or unused). It cannot be permitted."
    ),
    "needs_permission": _(
        "Leads to this machine or to a private network. Permit it below if that is "
        "meant."
    ),
    "no_name": _("Capital letters, digits and underscores, as in OPENAI_API_KEY."),
    "no_key_name": _(
        "Must end in _API_KEY, or be listed in ENDPOINT_KEY_VARIABLES: the value of "
        "the variable is sent to the endpoint."
    ),
    "one_price": _("Enter both prices or none: with one alone no cost is known."),
}
"""The service's codes as sentences."""


def _price(label: Any) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=Decimal(0),
        max_digits=12,
        decimal_places=6,
        localize=False,
    )


class EndpointForm(forms.Form):
    """What an admin may set of an endpoint."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_("Small letters, digits and hyphens."),
        max_length=64,
    )
    base_url = forms.CharField(
        label=_("Base URL"),
        help_text=_("Up to and with /v1, for example https://api.openai.com/v1"),
        max_length=500,
        widget=forms.TextInput(
            attrs={"inputmode": "url", "spellcheck": "false", "autocomplete": "off"}
        ),
    )
    model = forms.CharField(
        label=_("Model"),
        help_text=_("As the endpoint calls it."),
        max_length=128,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
    key_env = forms.CharField(
        label=_("Variable with the key"),
        help_text=_(
            "The name of an environment variable of web server and worker. The key "
            "itself is never entered here and never stored."
        ),
        required=False,
        max_length=128,
        widget=forms.TextInput(
            attrs={
                "placeholder": "OPENAI_API_KEY",
                "spellcheck": "false",
                "autocomplete": "off",
            }
        ),
    )
    window = forms.IntegerField(
        label=_("Window (tokens)"),
        help_text=_("The context length of the model."),
        initial=128_000,
        min_value=1_000,
        max_value=100_000_000,
    )
    timeout = forms.FloatField(
        label=_("Timeout (seconds)"),
        help_text=_("For one whole answer."),
        initial=300,
        min_value=1,
        max_value=3_600,
    )
    input_price = _price(_("Input price (per million tokens)"))
    output_price = _price(_("Output price (per million tokens)"))
    answers_turns = forms.BooleanField(
        label=_("Answers turns"),
        help_text=_("The first one in the order is the primary, the others follow."),
        required=False,
        initial=True,
    )
    writes_summaries = forms.BooleanField(
        label=_("Writes summaries"),
        help_text=_("The first one in the order is asked. Middles are sent to it."),
        required=False,
    )
    enabled = forms.BooleanField(label=_("Enabled"), required=False, initial=True)
    allow_private = forms.BooleanField(
        label=_("May be on this machine or in a private network"),
        help_text=_(
            "Permits loopback, private and link-local addresses for this endpoint. "
            "Without it every connection to one is refused, whatever the name says."
        ),
        required=False,
    )
    base_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def to_draft(self) -> EndpointDraft:
        """Return what the service takes; call it on a valid form."""
        return EndpointDraft(**self.cleaned_data)

    def refuse(self, fault: EndpointFault) -> None:
        """Put the service's refusal beside the field that it is about."""
        self.add_error(fault.field, str(_REASONS.get(fault.code, fault.code)))


def values_of(endpoint: Endpoint) -> dict[str, Any]:
    """Return what the form of a stored endpoint shows."""
    shown: dict[str, Any] = {
        name: getattr(endpoint, name)
        for name in EndpointForm.base_fields
        if name != "base_version"
    }
    for name in ("input_price", "output_price"):
        if shown[name] is not None:
            shown[name] = f"{shown[name].normalize():f}"
    shown["timeout"] = f"{endpoint.timeout:g}"
    return {**shown, "base_version": endpoint.version}
