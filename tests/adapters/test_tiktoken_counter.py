"""Tokens are counted exactly, offline, for any text, and quickly the second time."""

from __future__ import annotations

import gzip
import logging
import shutil
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from compaction.adapters import encoding_files, tiktoken_counter
from compaction.adapters.encoding_files import EncodingUnavailable, unpack
from compaction.adapters.safe_chunks import CHUNK_CHARS
from compaction.adapters.tiktoken_counter import (
    TiktokenCounter,
    encoding_for,
    is_exact_for,
    token_counter_for,
)
from compaction.engine.tokens import TokenOrigin

ROOT = Path(__file__).resolve().parents[2]
ENCODINGS = ["o200k_base", "cl100k_base"]

ODD_TEXTS = {
    "empty": "",
    "special tokens": "<|endoftext|><|im_start|>system<|fim_prefix|>",
    "lone surrogates": "before \ud800 between \udfff after",
    "nul": "a\x00b\x00",
    "right to left": "abc \u202e cba \u200f שלום",
    "emoji": "👩‍👩‍👧‍👦 🇨🇳 👍🏽",
    "chinese": "上下文压缩是核心特性之一，用于自动压缩中间轮次。",
    "code": "def main():\n    return {'a': [1, 2, 3]}\n\n\n",
    "spaces": " " * 5_000,
    "windows newlines": "one\r\ntwo\r\n\r\nthree",
}


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tiktoken")


@pytest.fixture(scope="module", params=ENCODINGS)
def counter(request: pytest.FixtureRequest, cache_dir: Path) -> TiktokenCounter:
    return TiktokenCounter(request.param, cache_dir=cache_dir)


@pytest.fixture(scope="module")
def independent_count(counter: TiktokenCounter) -> Callable[[str], int]:
    """Another library's tokenizer for the same encoding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai  # type: ignore[import-untyped]

    encoding = bpe_openai.get_encoding(counter.name)
    return lambda text: len(encoding.encode_ordinary(text))


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_odd_texts_count_as_an_independent_tokenizer_counts_them(
    counter: TiktokenCounter, independent_count: Callable[[str], int], name: str
):
    text = ODD_TEXTS[name]
    readable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    assert counter.count(text) == independent_count(readable)


@given(text=st.text())
def test_any_text_counts_as_an_independent_tokenizer_counts_it(
    counter: TiktokenCounter, independent_count: Callable[[str], int], text: str
):

    assert counter.count(text) == independent_count(text)


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox; jumps over:\n\n  the lazy dog. " * 2_000,
        "压缩触发条件，保护头部消息。清理孤立工具调用！" * 2_000,
        "\n".join(f'    "key_{n}": [{n}, "v{n}"],' for n in range(4_000)),
    ],
    ids=["prose", "chinese", "json"],
)
def test_a_long_text_counted_in_chunks_has_the_same_count(
    counter: TiktokenCounter, independent_count: Callable[[str], int], text: str
):
    assert len(text) > 2 * CHUNK_CHARS

    assert counter.count(text) == independent_count(text)


@pytest.mark.parametrize("letter", ["a", " ", "\n", "汉", "9", "-"])
def test_ten_megabytes_of_one_letter_are_counted(counter: TiktokenCounter, letter: str):
    size = 10_000_000
    one_chunk = counter.count(letter * CHUNK_CHARS)

    count = counter.count(letter * size)

    chunks = size / CHUNK_CHARS
    assert one_chunk * (chunks - 1) <= count <= one_chunk * (chunks + 1)


def test_the_same_text_is_not_tokenized_twice(cache_dir: Path):
    counter = TiktokenCounter("o200k_base", cache_dir=cache_dir)
    asked: list[str] = []
    encoding = counter._encoding

    class Spy:
        def encode_ordinary(self, text: str) -> list[int]:
            asked.append(text)
            return encoding.encode_ordinary(text)

    counter._encoding = Spy()  # type: ignore[assignment]
    first = counter.count("some words to count")
    again = counter.count("".join(["some words ", "to count"]))

    assert first == again
    assert asked == ["some words to count"]


@pytest.mark.parametrize(
    ("model", "encoding", "exact"),
    [
        ("gpt-4o", "o200k_base", True),
        ("gpt-4o-2024-08-06", "o200k_base", True),
        ("openai/gpt-4.1-mini", "o200k_base", True),
        ("openrouter/openai/gpt-5", "o200k_base", True),
        ("gpt-5-codex", "o200k_base", True),
        ("o3-mini", "o200k_base", True),
        ("gpt-oss-120b", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("gpt-3.5-turbo-0125", "cl100k_base", True),
        ("ft:gpt-4o:acme", "o200k_base", True),
        ("claude-sonnet-4-5", "o200k_base", False),
        ("glm-4.7", "o200k_base", False),
        ("text-davinci-003", "o200k_base", False),
        ("", "o200k_base", False),
    ],
)
def test_the_encoding_follows_the_model_name(model: str, encoding: str, exact: bool):
    assert encoding_for(model) == encoding
    assert is_exact_for(model) is exact


def test_a_counter_for_a_foreign_model_says_that_it_is_not_exact(cache_dir: Path):
    counter = token_counter_for("claude-sonnet-4-5", cache_dir=cache_dir)

    assert isinstance(counter, TiktokenCounter)
    assert counter.origin is TokenOrigin.TIKTOKEN
    assert not counter.exact


OFFLINE = """
import socket, sys
from pathlib import Path
def refuse(*a, **k):
    print("NETWORK", a, file=sys.stderr)
    sys.exit(3)
socket.create_connection = socket.getaddrinfo = refuse
from compaction.adapters.tiktoken_counter import token_counter_for
for model in ("gpt-4o", "gpt-4"):
    counter = token_counter_for(model, cache_dir=Path(sys.argv[1]))
    print(counter.name, counter.count("hello world"))
"""


def test_counting_works_without_a_network(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, str(tmp_path / "empty")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stderr == ""
    assert done.stdout.split("\n")[:2] == ["o200k_base 2", "cl100k_base 2"]


FORK = """
import os, sys, threading
from pathlib import Path
from compaction.adapters.tiktoken_counter import TiktokenCounter
cache = Path(sys.argv[1])
threading.Thread(target=TiktokenCounter, args=("cl100k_base",),
                 kwargs={"cache_dir": cache}).start()
counter = TiktokenCounter("o200k_base", cache_dir=cache)
child = os.fork()
if child == 0:
    ok = counter.count("hello world") == 2
    other = TiktokenCounter("cl100k_base", cache_dir=cache)
    os._exit(0 if ok and other.count("hello world") == 2 else 4)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_worker_counts_while_its_parent_was_loading(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK, str(tmp_path)],
        cwd=ROOT,
        timeout=60,
    )

    assert done.returncode == 0


def test_threads_get_the_same_counts(counter: TiktokenCounter):
    texts = [f"message {n} " * 50 for n in range(200)]
    seen: list[list[int]] = []

    def run() -> None:
        seen.append([counter.count(text) for text in texts])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(seen) == 4
    assert all(counts == seen[0] for counts in seen)


def test_the_rank_file_is_unpacked_once(tmp_path: Path):
    path = unpack("cl100k_base", tmp_path)
    written = path.stat()

    assert unpack("cl100k_base", tmp_path).stat().st_mtime_ns == written.st_mtime_ns
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_damaged_copy_in_the_cache_is_replaced(tmp_path: Path):
    path = unpack("cl100k_base", tmp_path)
    path.write_bytes(b"damaged")

    TiktokenCounter("cl100k_base", cache_dir=tmp_path)
    assert unpack("cl100k_base", tmp_path).stat().st_size > 1_000_000


@pytest.mark.parametrize("damage", ["missing", "cut", "other content"])
def test_damaged_rank_files_give_estimates_and_one_warning(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    damage: str,
):
    packed = tmp_path / "packed"
    packed.mkdir()
    file = packed / "o200k_base.tiktoken.gz"
    shutil.copy(encoding_files.PACKED / file.name, file)
    if damage == "missing":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:1_000])
    else:
        file.write_bytes(gzip.compress(b"other"))
    monkeypatch.setattr(unpack, "__kwdefaults__", {"packed": packed})
    tiktoken_counter._warn_once.cache_clear()

    with caplog.at_level(logging.WARNING):
        counters = [
            token_counter_for("gpt-4o", cache_dir=tmp_path / "cache") for _ in range(3)
        ]

    assert all(counter.origin is TokenOrigin.ROUGH for counter in counters)
    assert counters[0].count("hello world") > 0
    assert len(caplog.records) == 1
    assert file.name in caplog.text


def test_a_cache_folder_that_cannot_be_made_is_named(tmp_path: Path):
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")

    with pytest.raises(EncodingUnavailable, match="cannot be written"):
        unpack("o200k_base", blocker / "cache")
