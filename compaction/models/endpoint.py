"""A server that answers like OpenAI's, as an admin entered it."""

from __future__ import annotations

from django.db import models


class Endpoint(models.Model):
    """One model behind one base URL; the key itself is never stored.

    Endpoints are asked by `position`: of those that are enabled and answer turns the
    first is the primary, the others are fallbacks in that order; of those that write
    summaries the first does. `key_env` is the name of the variable that holds the key.
    """

    name = models.SlugField(max_length=64, unique=True)
    base_url = models.CharField(max_length=500)
    model = models.CharField(max_length=128)
    window = models.PositiveIntegerField(default=128_000)  # tokens
    key_env = models.CharField(max_length=128, blank=True)
    timeout = models.FloatField(default=300.0)  # seconds for a whole answer
    # Money for a million tokens.
    input_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True
    )
    output_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True
    )
    answers_turns = models.BooleanField(default=True)
    writes_summaries = models.BooleanField(default=False)
    position = models.PositiveIntegerField(default=0)
    enabled = models.BooleanField(default=True)
    allow_private = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=1)
    changed_at = models.DateTimeField(auto_now=True)
    trial = models.JSONField(default=dict, blank=True)  # store.endpoint_trials.Trial

    class Meta:
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return self.name
