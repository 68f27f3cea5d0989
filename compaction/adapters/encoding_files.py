"""tiktoken's rank files, carried with the project so that counting needs no network.

They lie gzipped in `encodings/`; the first use unpacks one into a cache folder under
the name tiktoken looks for, so that tiktoken finds it there and never downloads.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path

PACKED = Path(__file__).parent / "encodings"

SHA256: Mapping[str, str] = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""Sums of the unpacked files, the same that tiktoken checks."""

_SOURCE = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"


class EncodingUnavailable(Exception):
    """A rank file cannot be used; the text says which file and why."""


def unpack(name: str, cache_dir: Path, *, packed: Path = PACKED) -> Path:
    """Put the rank file of an encoding into `cache_dir` and return its path.

    Does nothing when it is there already with the right sum. Safe when several
    processes do it at once. Raises EncodingUnavailable.
    """
    if name not in SHA256:
        raise EncodingUnavailable(f"no rank file for the encoding {name}")
    target = cache_dir / _cache_name(name)
    if not _is_intact(target, name):
        ranks = _read_packed(packed / f"{name}.tiktoken.gz", name)
        _write(target, ranks)
    return target


def _cache_name(name: str) -> str:
    """Return the file name under which tiktoken keeps a download."""
    url = _SOURCE.format(name=name)
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()


def _is_intact(path: Path, name: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == SHA256[name]
    except OSError:
        return False


def _read_packed(path: Path, name: str) -> bytes:
    try:
        ranks = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise EncodingUnavailable(f"{path.name} cannot be unpacked: {error}") from error
    if hashlib.sha256(ranks).hexdigest() != SHA256[name]:
        raise EncodingUnavailable(f"{path.name} has the wrong sha256 sum")
    return ranks


def _write(target: Path, ranks: bytes) -> None:
    """Write beside the target and rename, so that nobody reads half a file."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name)
        with os.fdopen(handle, "wb") as file:
            file.write(ranks)
        Path(name).replace(target)
    except OSError as error:
        raise EncodingUnavailable(
            f"the folder {target.parent} cannot be written: {error.strerror}"
        ) from error
