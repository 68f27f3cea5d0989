"""Pages: a request in, a page or its fragment out; one module per noun."""

from __future__ import annotations
