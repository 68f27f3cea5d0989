"""The file broker of the embedded console: kombu's, with whole files only.

Kombu creates the file of a message and fills it afterwards. A worker that looks in
between takes it away empty and ends, since an empty text is no message. Here a file
appears under its name only when all of it is written.
"""

from __future__ import annotations

import logging
import os
import uuid
from json import JSONDecodeError
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

logger = logging.getLogger(__name__)


class Channel(filesystem.Channel):
    """A channel whose messages and tables appear whole or not at all."""

    def _put(self, queue: str, message: Any, **_: Any) -> None:  # type: ignore[override]
        """Add a message; raises OSError, which the caller takes for a lost wake-up."""
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        _write_whole(Path(self.data_folder_out) / name, dumps(message))

    def _get(self, queue: str, *_: Any, **__: Any) -> Any:
        """Take the oldest message; a damaged one is dropped, the row is sent anew."""
        try:
            return super()._get(queue)
        except JSONDecodeError:
            logger.warning("A damaged message in the queue %s was dropped.", queue)
            raise Empty from None

    def _queue_bind(self, exchange: str, *where: Any) -> None:
        table = Path(self.control_folder) / f"{exchange}.exchange"
        if not table.exists():
            table.parent.mkdir(exist_ok=True)
            _write_first(table, dumps([]))
        super()._queue_bind(exchange, *where)


class Transport(filesystem.Transport):
    """Kombu's file transport with our channel."""

    Channel = Channel


def use_whole_files() -> None:
    """Let addresses that begin with `filesystem:` mean this transport."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"


def _write_whole(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _write_first(path: Path, text: str) -> None:
    """Write a file unless somebody else was faster."""
    part = path.with_name(f".{uuid.uuid4()}.part")
    part.write_text(text, encoding="utf-8")
    try:
        os.link(part, path)
    except FileExistsError:
        pass
    finally:
        part.unlink()
