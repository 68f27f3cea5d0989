"""Token counts by tiktoken, offline, for any text, and never an exception.

A count is exact for OpenAI's models. Other models have tokenizers of their own: their
texts are counted with o200k_base all the same, marked `exact=False`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import tiktoken
from tiktoken.model import encoding_name_for_model
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

from compaction.adapters.count_memo import CountMemo, RecentCounts
from compaction.adapters.encoding_files import SHA256, EncodingUnavailable, unpack
from compaction.adapters.safe_chunks import CHUNK_CHARS, safe_chunks
from compaction.engine.tokens import RoughCounter, TokenCounter, TokenOrigin

logger = logging.getLogger(__name__)

_RECENT_CHARS = 8_000_000  # at most 32 MB of text
DEFAULT_ENCODING = "o200k_base"
_SAME_RANKS = {"o200k_harmony": "o200k_base"}
_VENDOR_PREFIXES = ("openai/", "azure/", "openrouter/openai/", "github/")
_NEWER_MODELS = ("o1", "o3", "o4", "gpt-4.1", "gpt-4.5", "gpt-4o", "gpt-6", "codex-")


class TiktokenCounter:
    """Counts with one encoding; raises EncodingUnavailable when it cannot load.

    `cache_dir` receives the unpacked rank file (a few megabytes, once). Instances
    share the loaded encoding; threads and forked workers may share an instance.
    """

    origin = TokenOrigin.TIKTOKEN
    overhead = 4  # role and separators of a message

    def __init__(self, encoding: str, *, cache_dir: Path, exact: bool = True) -> None:
        self.name = encoding
        self.exact = exact
        self._encoding = _load(encoding, cache_dir)
        self._memo = CountMemo()
        recent = RecentCounts(self._count_seen, max_chars=_RECENT_CHARS)
        self.count: Callable[[str], int] = recent.__getitem__
        """Return the number of tokens; text like `<|endoftext|>` is plain text."""

    def _count_seen(self, text: str) -> int:
        known = self._memo.get(text)
        if known is not None:
            return known
        return self._memo.put(text, self._count_cold(text))

    def _count_cold(self, text: str) -> int:
        if len(text) <= CHUNK_CHARS:
            return len(self._encoding.encode_ordinary(text))
        return sum(self._count_seen(chunk) for chunk in safe_chunks(text))


def encoding_for(model: str) -> str:
    """Return the name of a model's encoding; o200k_base when it is not known."""
    return _known_encoding(model) or DEFAULT_ENCODING


def is_exact_for(model: str) -> bool:
    """True when the model's own encoding is known and carried here."""
    return _known_encoding(model) is not None


def token_counter_for(model: str, *, cache_dir: Path) -> TokenCounter:
    """Return the best counter for a model; the rough one when files are damaged.

    The reason is logged once per process, and every number of a rough counter says
    that it is an estimate.
    """
    try:
        exact = is_exact_for(model)
        return _shared_counter(encoding_for(model), cache_dir, exact=exact)
    except EncodingUnavailable as error:
        _warn_once(str(error))
        return RoughCounter()


def _known_encoding(model: str) -> str | None:
    bare = _strip_vendor(model.strip().lower())
    try:
        name = encoding_name_for_model(bare)
    except KeyError:
        return DEFAULT_ENCODING if _is_newer(bare) else None
    name = _SAME_RANKS.get(name, name)
    return name if name in SHA256 else None


def _strip_vendor(model: str) -> str:
    for prefix in sorted(_VENDOR_PREFIXES, key=len, reverse=True):
        model = model.removeprefix(prefix)
    return model


def _is_newer(model: str) -> bool:
    """True for OpenAI models that came after the list of the library."""
    return model.startswith(_NEWER_MODELS)


@lru_cache(maxsize=8)
def _shared_counter(encoding: str, cache_dir: Path, *, exact: bool) -> TiktokenCounter:
    return TiktokenCounter(encoding, cache_dir=cache_dir, exact=exact)


@lru_cache(maxsize=4)
def _load(name: str, cache_dir: Path) -> tiktoken.Encoding:
    """Build an encoding without tiktoken's registry: that holds a lock over forks."""
    unpack(name, cache_dir)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache_dir)
    constructor = getattr(openai_public, name)
    try:
        return tiktoken.Encoding(**constructor())
    except (OSError, ValueError) as error:
        raise EncodingUnavailable(f"{name} cannot be loaded: {error}") from error


@lru_cache(maxsize=32)
def _warn_once(reason: str) -> None:
    logger.warning("Tokens are estimated, not counted: %s", reason)
