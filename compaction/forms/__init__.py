"""From the text of a form or an address to values; one module per noun."""

from __future__ import annotations
