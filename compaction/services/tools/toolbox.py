"""The toolbox of the console's own agent: which tools there are, and running one.

A call that cannot be done gives the model a text that says why; nothing a model sends
raises. Every result has a hard cap in tokens, so that one answer never fills a window.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.db import DatabaseError

from compaction.adapters.read_only_folder import ReadOnlyFolder
from compaction.engine.messages import ToolCall
from compaction.engine.tokens import TokenCounter
from compaction.engine.tools import (
    FILES,
    MEMORY,
    RECALL,
    TASK,
    ToolMistake,
    ToolSpec,
    cap_tokens,
    read_arguments,
)
from compaction.models import Conversation
from compaction.services.tools import memory_tools, recall_tools, task_tools
from compaction.services.tools.file_tools import FileTools

logger = logging.getLogger(__name__)

RESULT_TOKENS = 4_000
FILE_TOKENS = 16_000
_WINDOW_SHARE = 4
"""A result takes at most this part of the window, whatever its own cap."""

Tools = Mapping[str, tuple[ToolSpec, Callable[..., str]]]
"""By name: what the model is told of a tool, and what it does."""
_FILE_NAMES = frozenset(spec.name for spec in FILES)


class AgentToolbox:
    """The engine's Toolbox for one conversation; file tools only with a `folder`."""

    def __init__(
        self,
        conversation: Conversation,
        counter: TokenCounter,
        *,
        folder: Path | None = None,
    ) -> None:
        self._counter = counter
        share = max(500, conversation.window // _WINDOW_SHARE)
        self._limit = min(RESULT_TOKENS, share)
        self._tools: Tools = _own_tools(conversation)
        if folder is not None:
            file_limit = min(FILE_TOKENS, share)
            files = FileTools(ReadOnlyFolder(folder), counter, limit=file_limit)
            self._tools = {**self._tools, **_file_tools(files)}
        self._file_limit = min(FILE_TOKENS, share)

    @property
    def schemas(self) -> Sequence[Mapping[str, Any]]:
        """What the model is told about the tools."""
        return [spec.schema for spec, _ in self._tools.values()]

    def run(self, call: ToolCall) -> str:
        """Do one call and return its result, or why it was not done."""
        limit = self._file_limit if call.name in _FILE_NAMES else self._limit
        return cap_tokens(run_tool(self._tools, call), limit, self._counter)


def run_tool(tools: Tools, call: ToolCall) -> str:
    """Do one call with these tools; only an unusable database raises."""
    if call.name not in tools:
        names = ", ".join(tools)
        return f"There is no tool named {call.name[:80]!r}. There are: {names}."
    spec, do = tools[call.name]
    try:
        return do(**read_arguments(call, spec))
    except ToolMistake as mistake:
        return str(mistake)
    except DatabaseError:
        raise
    except Exception:
        logger.exception("The tool %s failed.", spec.name)
        return f"{spec.name} failed for a reason that is not yours. Do without it."


def _own_tools(conversation: Conversation) -> Tools:
    return {
        spec.name: (spec, partial(getattr(module, spec.name), conversation))
        for module, specs in (
            (task_tools, TASK),
            (memory_tools, MEMORY),
            (recall_tools, RECALL),
        )
        for spec in specs
    }


def _file_tools(files: FileTools) -> Tools:
    return {spec.name: (spec, getattr(files, spec.name)) for spec in FILES}
