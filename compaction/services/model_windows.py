"""Context lengths of well-known models, for logs that do not tell theirs.

An assumption, marked as such beside every conversation it is used for.
"""

from __future__ import annotations

import re

ASSUMED_WINDOW = 200_000
_LEAST, _MOST = 1_000, 100_000_000

_WINDOWS: tuple[tuple[str, int], ...] = (
    (r"gpt-5", 400_000),
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-4(o|-turbo|\.5)", 128_000),
    (r"gpt-4-32k", 32_768),
    (r"gpt-4", 8_192),
    (r"gpt-3\.5", 16_385),
    (r"gpt-oss", 131_072),
    (r"(^|/)o[134]\b", 200_000),
    (r"claude", 200_000),
    (r"gemini", 1_048_576),
    (r"deepseek", 128_000),
    (r"glm-4\.[67]|glm-5", 200_000),
    (r"glm", 131_072),
    (r"kimi", 262_144),
    (r"qwen3", 262_144),
    (r"qwen", 131_072),
    (r"llama-4", 1_048_576),
    (r"llama-3\.[1-9]", 131_072),
    (r"llama-3", 8_192),
    (r"mistral|devstral|codestral", 131_072),
    (r"grok", 256_000),
)
_PATTERNS = tuple((re.compile(pattern), window) for pattern, window in _WINDOWS)


def assumed_window(model: str) -> int:
    """Return the context length in tokens that a model of this name should have."""
    name = model.lower()
    matches = (window for pattern, window in _PATTERNS if pattern.search(name))
    return next(matches, ASSUMED_WINDOW)


def usable_window(declared: int | None, model: str) -> tuple[int, bool]:
    """Return the window to plan with, and whether the log itself declared it."""
    if declared is not None and _LEAST <= declared <= _MOST:
        return declared, True
    return assumed_window(model), False
