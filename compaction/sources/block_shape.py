"""Content blocks of the Anthropic kind (Claude Code, pi) as OpenAI content parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction.engine.messages import Content
from compaction.sources.fields import listing, mapping, text


def to_content(raw: object) -> Content:
    """Turn text or a list of blocks into content; one lone text stays a text."""
    if raw is None or isinstance(raw, str):
        return raw
    parts = tuple(to_part(block) for block in listing(raw))
    if not parts:
        return None
    if len(parts) == 1 and parts[0].get("type") == "text":
        return text(parts[0].get("text"))
    return parts


def to_part(block: object) -> Mapping[str, Any]:
    """Turn one block into a part; a kind that OpenAI does not know stays as it is."""
    if not isinstance(block, Mapping):
        return {"type": "text", "text": str(block)}
    kind = block.get("type")
    if kind in ("text", "input_text", "output_text"):
        return {"type": "text", "text": text(block.get("text"))}
    if kind in ("image", "input_image"):
        return {"type": "image_url", "image_url": {"url": _image_url(block)}}
    return block


def _image_url(block: Mapping[str, Any]) -> str:
    direct = block.get("image_url")
    if isinstance(direct, str):
        return direct
    source = mapping(block.get("source"))
    if text(source.get("url")):
        return text(source.get("url"))
    data = text(source.get("data")) or text(block.get("data"))
    kind = text(source.get("media_type")) or text(block.get("mimeType"))
    return f"data:{kind or 'image/png'};base64,{data}"
