"""Reading the files of a folder that an administrator configured; nothing else.

Results are redacted like everything that goes to a provider without need: an agent
without a shell has no use for a key that lies in a file.
"""

from __future__ import annotations

from compaction.adapters.read_only_folder import (
    MAX_ENTRIES,
    FolderRefused,
    ReadOnlyFolder,
)
from compaction.engine.phases.redaction import redact
from compaction.engine.tokens import TokenCounter
from compaction.engine.tools import ToolMistake, cap_tokens


class FileTools:
    """The three file tools over one folder; `limit` in tokens a result."""

    def __init__(
        self, folder: ReadOnlyFolder, counter: TokenCounter, *, limit: int
    ) -> None:
        self._folder = folder
        self._counter = counter
        self._limit = limit

    def list_files(self, *, path: str = "") -> str:
        """List a folder."""
        try:
            entries = self._folder.entries(path)
        except FolderRefused as refused:
            raise ToolMistake(str(refused)) from None
        lines = [
            f"{entry.name}/"
            if entry.size is None
            else f"{entry.name}  {entry.size:,} B"
            for entry in entries
        ]
        if len(entries) == MAX_ENTRIES:
            lines.append(f"[the first {MAX_ENTRIES} names]")
        return "\n".join(lines) or "The folder is empty."

    def read_file(self, *, path: str, line: int = 1) -> str:
        """Read a file from a line on, as much as fits; says where to go on."""
        try:
            text = redact(self._folder.read(path))
        except FolderRefused as refused:
            raise ToolMistake(f"{path}: {refused}") from None
        lines = text.splitlines(keepends=True)
        start = max(1, line)
        if lines and start > len(lines):
            raise ToolMistake(f"{path} has {len(lines)} lines.")
        wanted = "".join(lines[start - 1 :])
        kept = cap_tokens(wanted, self._limit - 40, self._counter, note=" ")
        if kept == wanted:
            return wanted or "The file is empty."
        kept = kept.rstrip()
        shown = max(1, kept.count("\n"))
        if shown > 1:
            kept = "".join(lines[start - 1 : start - 1 + shown]).rstrip("\n")
        return (
            f"{kept}\n[lines {start} to {start + shown - 1} of {len(lines)}; "
            f"go on with line {start + shown}]"
        )

    def search_files(self, *, text: str, path: str = "") -> str:
        """Find lines that contain a text."""
        try:
            hits = self._folder.search(text, path)
        except FolderRefused as refused:
            raise ToolMistake(str(refused)) from None
        lines = [f"{hit.path}:{hit.line}: {hit.text}" for hit in hits]
        return redact("\n".join(lines)) or "No line contains this text."
