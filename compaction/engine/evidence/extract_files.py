"""Files and what was done to them, from the arguments of tools and from commands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compaction.engine.evidence.items import WEIGHTS, EvidenceItem, EvidenceKind
from compaction.engine.evidence.reading import CallSeen, Turn
from compaction.engine.evidence.shell_lines import file_acts, is_path
from compaction.engine.evidence.tool_names import (
    COMMAND_ARGUMENTS,
    DESTINATION_ARGUMENTS,
    PATH_ARGUMENTS,
    Act,
    act_of,
    text_argument,
)

PATH_CHARS = 200
CHANGES = frozenset({Act.WRITE, Act.CREATE, Act.EDIT, Act.DELETE, Act.MOVE})

_PATCHED = re.compile(
    r"^(?:\*\*\* (?P<what>Add|Update|Delete) File: (?P<file>[^\n]{1,200})"
    r"|\*\*\* Move to: (?P<to>[^\n]{1,200})|\+\+\+ (?:b/)?(?P<diff>[^\s]{1,200}))",
    re.MULTILINE,
)
_PATCH_ACTS = {"Add": Act.CREATE, "Update": Act.EDIT, "Delete": Act.DELETE}
_MENTIONED = re.compile(
    r"(?<![\w/.@-])(?:[\w@.-]{1,60}/){1,8}[\w@.-]{1,80}\.[A-Za-z][A-Za-z0-9]{0,7}\b"
)


@dataclass(slots=True)
class _FileSeen:
    since: int
    acts: dict[Act, int] = field(default_factory=dict)
    position: int = 0


def extract_files(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield each file once, with all that was done to it, in order of first sight."""
    seen: dict[str, _FileSeen] = {}
    for turn in turns:
        for call in turn.calls:
            for act, path in acts_of_call(call):
                _note(seen, path, act, turn.position)
        if turn.by_user:
            for match in list(_MENTIONED.finditer(turn.text))[:12]:
                _note(seen, match.group(), Act.OTHER, turn.position)
    for path, file in _unified(seen).items():
        yield _item(path, file)


def _unified(seen: dict[str, _FileSeen]) -> dict[str, _FileSeen]:
    """Add up what was done to a file under its absolute and its relative path."""
    names = same_files(seen)
    unified: dict[str, _FileSeen] = {}
    for path, file in seen.items():
        known = unified.setdefault(names[path], _FileSeen(file.since))
        for act, count in file.acts.items():
            known.acts[act] = known.acts.get(act, 0) + count
        known.since = min(known.since, file.since)
        known.position = max(known.position, file.position)
    return unified


def same_files(paths: Iterable[str]) -> dict[str, str]:
    """Return for each path the name to use: the relative one where both are known.

    `/srv/app/src/a.py` is `src/a.py` when that is known, and then `/srv/app/b.py` is
    `b.py`.
    """
    known = dict.fromkeys(paths)
    names = {path: path for path in known}
    roots: Counter[str] = Counter()
    for path in known:
        bare = path.removeprefix("./")
        short = _known_end(path, known) if path.startswith(("/", "~")) else bare
        names[path] = short or path
        if short and short != bare:
            roots[path[: len(path) - len(short)]] += 1
    root = roots.most_common(1)[0][0] if roots else ""
    return {
        path: name.removeprefix(root) if root and name == path else name
        for path, name in names.items()
    }


def _known_end(path: str, known: Container[str]) -> str:
    """Return the longest end of an absolute path that is a known relative one."""
    parts = path.split("/")[:_DEEPEST_PATH]
    for start in range(1, len(parts) - 1):
        end = "/".join(path.split("/")[start:])
        if end in known:
            return end
    return ""


_DEEPEST_PATH = 24


def _note(seen: dict[str, _FileSeen], path: str, act: Act, position: int) -> None:
    file = seen.setdefault(path[:PATH_CHARS].strip(), _FileSeen(position))
    file.acts[act] = file.acts.get(act, 0) + 1
    file.position = position


def _item(path: str, file: _FileSeen) -> EvidenceItem:
    changed = bool(CHANGES & file.acts.keys())
    weight = WEIGHTS[EvidenceKind.FILE] * (1.0 if changed else 0.6)
    return EvidenceItem(
        kind=EvidenceKind.FILE,
        text=path,
        position=file.position,
        since=file.since,
        weight=weight + min(8, sum(file.acts.values())),
        key=path,
        note=describe(file.acts),
    )


def describe(acts: Mapping[Act, int]) -> str:
    """Write acts down: `read, edited ×3`; a mention alone is no act."""
    parts = [
        f"{act.value} ×{count}" if count > 1 and act in CHANGES else act.value
        for act, count in acts.items()
        if act is not Act.OTHER
    ]
    return ", ".join(parts) or "mentioned"


_NOTED = re.compile(r"(?P<act>[a-z]+)(?: ×(?P<count>\d{1,6}))?\Z")


def tells_acts(note: str) -> bool:
    """True for a description of ours: `read, edited ×2`."""
    parts = [_NOTED.match(part) for part in note.split(", ")]
    return all(part is not None and part["act"] in set(Act) for part in parts)


def add_notes(earlier: str, later: str) -> str:
    """Add up two descriptions of what was done; a model's own words come first."""
    acts: dict[Act, int] = {}
    told: list[str] = []
    for part in [*earlier.split(", "), *later.split(", ")]:
        match = _NOTED.match(part)
        if match and match["act"] in set(Act):
            act = Act(match["act"])
            acts[act] = acts.get(act, 0) + int(match["count"] or 1)
        elif part != "mentioned" and part not in told:
            told.append(part)
    done = describe(acts) if acts else ""
    return ", ".join([*told, *([done] if done else [])]) or "mentioned"


def acts_of_call(call: CallSeen) -> Iterator[tuple[Act, str]]:
    """Yield what one call does to which path."""
    act = act_of(call.name, call.arguments)
    if act is Act.RUN:
        command = text_argument(call.arguments, COMMAND_ARGUMENTS) or call.raw
        yield from (*_patched(command), *file_acts(command))
    elif act is Act.PATCH:
        patch = text_argument(call.arguments, ("input", "patch", "diff"))
        yield from _patched(patch or call.raw.replace("\\n", "\n"))
    elif act not in (Act.TODO, Act.SEARCH):
        yield from _by_arguments(act, call)


def _by_arguments(act: Act, call: CallSeen) -> Iterator[tuple[Act, str]]:
    path = text_argument(call.arguments, PATH_ARGUMENTS)
    destination = text_argument(call.arguments, DESTINATION_ARGUMENTS)
    if act is Act.MOVE and path and destination:
        yield act, f"{path} -> {destination}"
    elif path and (act is not Act.OTHER or is_path(path)):
        yield act, path


def _patched(text: str) -> Iterator[tuple[Act, str]]:
    if "*** " not in text and "+++ " not in text:
        return
    for match in list(_PATCHED.finditer(text))[:60]:
        if match["file"]:
            yield _PATCH_ACTS[match["what"]], match["file"].strip()
        elif match["to"]:
            yield Act.CREATE, match["to"].strip()
        elif match["diff"] != "/dev/null":
            yield Act.EDIT, match["diff"]
