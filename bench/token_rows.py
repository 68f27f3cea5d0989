"""Rows of the counting of tokens: right by an independent tokenizer, and remembered."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Mapping

import tiktoken

from bench.inputs import SEED, make_code, make_prose
from bench.measuring import cpu_seconds, side_by_side
from bench.rows import Measured, Row, Skipped
from bench.workshop import Workshop
from compaction.adapters.tiktoken_counter import TiktokenCounter

_CHARS = 100_000
_TEXTS = 2_000  # as many as one process keeps at hand
_CHINESE = (
    "我们正在检查配置文件为什么没有生效请先阅读日志然后告诉我哪个测试失败了"
    "数据库迁移之后索引变得很大所以查询变慢如果重试仍然超时就换一个服务器"
    "用户要求保留原来的接口不要改动已经完成的部分下一步是修复登录页面的错误"
)


def make_texts(chars: int) -> Mapping[str, str]:
    """Make one text of each kind that tokenizers treat differently."""
    dice = random.Random(SEED)
    raw = dice.randbytes(chars)
    return {
        "prose": make_prose(dice, chars),
        "code": make_code(dice, chars),
        "hex": raw.hex()[:chars],
        "base64": base64.b64encode(raw).decode()[:chars],
        "chinese": "".join(dice.choices(_CHINESE + "，。", k=chars)),
    }


def tokens_error(encoding: str) -> Callable[[Workshop], Measured]:
    """How far our count is off for the worst kind of text."""

    def measure(workshop: Workshop) -> Measured:
        try:
            import bpe_openai  # type: ignore[import-untyped]
        except ImportError:
            raise Skipped("bpe-openai is not installed (requirements-dev)") from None
        counter = TiktokenCounter(encoding, cache_dir=workshop.folder / "tiktoken")
        oracle = bpe_openai.get_encoding(encoding)
        counts = {
            kind: (counter.count(text), len(oracle.encode_ordinary(text)))
            for kind, text in make_texts(
                _CHARS // 100 if workshop.is_quick else _CHARS
            ).items()
        }
        worst = max(counts, key=lambda kind: _error(*counts[kind]))
        ours, other = counts[worst]
        note = f"worst of {', '.join(counts)}: {worst}, {ours} against {other} tokens"
        return Measured(ours=abs(ours - other), other=other, unit="tok", note=note)

    return measure


def _error(ours: int, other: int) -> float:
    return abs(ours - other) / other


def tokens_warm(workshop: Workshop) -> Measured:
    """Ask again for texts that one process has at hand."""
    texts = [m.text for m in workshop.conversation("W").messages[:_TEXTS]]
    counter = TiktokenCounter("o200k_base", cache_dir=workshop.folder / "tiktoken")
    encoding = tiktoken.get_encoding("o200k_base")
    asked = texts * 10
    return side_by_side(
        lambda: cpu_seconds(lambda: [counter.count(text) for text in asked]) / 10,
        lambda: cpu_seconds(lambda: [encoding.encode_ordinary(t) for t in texts]),
        runs=workshop.sizes.runs,
    )


ROWS = (
    *(
        Row(
            name=f"tokens_error/{encoding}",
            target="1/100",
            measure=tokens_error(encoding),
            against="the count of bpe-openai",
        )
        for encoding in ("o200k_base", "cl100k_base")
    ),
    Row(
        name="tokens_warm",
        target="1/1000",
        measure=tokens_warm,
        against="counting the same texts with tiktoken",
    ),
)
