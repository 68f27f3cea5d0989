"""What the value of a secret's name looks like: opaque, a word, code, a placeholder."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, cast

from compaction.engine.phases.secret_words import NO_VALUES


def any_case(pattern: str) -> str:
    """Spell out both cases of the letters of a pattern: classes match the fastest.

    Leaves letters after a backslash, in a class and in `{…}` or `(?…` alone.
    """
    keep = r"\\.|\[(?:[^\]\\]|\\.)*\]|\{\d*,?\d*\}|\(\?[P<=!:>]*"
    return re.sub(
        rf"({keep})|([a-z])",
        lambda match: match[1] or f"[{match[2]}{match[2].upper()}]",
        pattern,
    )


LONGEST_JUDGED = 200
"""Characters of a value that are looked at; more change no judgement."""


Looks = Literal[
    "placeholder",  # <your key>, ${VAR}, xxx, os.environ[…], null, str
    "code",  # a call, an attribute, a name with underscores
    "number",
    "path",
    "known",  # sha256, 128bit, 2026-01-31, v1.2.3
    "word",  # up to 19 letters
    "phrase",  # several words
    "prose",  # a text in Chinese
    "opaque",  # what no word, identifier or version looks like
    "short",  # letters and digits, but less than eight
    "other",
]
"""How a value looks."""


_PLACEHOLDER = any_case(
    r"""
    [<\[{(] | \$[A-Za-z_{(] | %\w+%\Z | %[({s] | @@ | \#\{ | \\u
  | [*.•…_#-]{2,}\Z | \?{2,}\Z | x{3,}\Z | [^.…]*(?:\.{3}|…)\Z
  | (?:your|insert|replace|enter|put)[-_ ]
  | example|sample|dummy|fake|mock|placeholder|redacted|masked|todo|tbd
  | (?:sk|pk|key|token|ghp|xoxb)[-_](?:x{3,}|\.{3}|\*{3}|…)
  | os\.environ|os\.getenv|process\.env|env\.|secrets\.|vars\.|config\.|settings\.
  | self\.|this\.|params\.|args\.|options\.|vault:|secret:|!secret|!vault|enc\[
  | arn:|file:|ssm:|op://
    """
)
_KNOWN = any_case(
    r"""
    (?:sha|md|aes|rsa|hs|rs|es|ed|base|utf|bcrypt|scrypt|argon|pbkdf|oauth|x)
      -?\d+\w{0,4}[.,;:!?)]*\Z
  | \d+[-_]?(?:bits?|chars?|characters|bytes|days?|hours?|minutes?|seconds?|ms|[smhd])\Z
  | \d{1,4}-\d\d?-\d\d?(?:t.*| .*)?\Z | v?\d+(?:\.\d+)+[\w.-]*\Z
    """
)
_PATH = r"/|\.{1,2}/|~/|https?://|[A-Za-z]:[\\/]"
_CODE = r"""
    [A-Za-z_][\w.:?]*[(\[{] | (?:lambda|new|await|not|f"|&|\*[a-z])
  | [A-Za-z_][A-Za-z_]*(?:\??\.[A-Za-z_]\w*)+[;:)\]},]*\Z
  | [A-Za-z]*_[A-Za-z_]*\d{0,2}[;:)\]},]*\Z | [a-z]+\d?[)\]}]+\Z
"""
_REST = r"""
  | (?P<number>[-+$]?\d[\d.,_]*%?[.,;:)\]}}]*\Z)
  | (?P<path>{path})
  | (?P<known>{known})
  | (?P<word>[A-Za-z]{{1,19}}[.:!?)\]}}]*\Z)
  | (?P<prose>[⺀-￯])
  | (?P<phrase>[^\s]*\s)
  | (?P<opaque>(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z]).{{8}}
      |(?=.*[a-z])(?=.*[A-Z])[A-Za-z+/=_-]{{20}})
  | (?P<short>(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z]))
"""
_TAIL = _REST.format(path=_PATH, known=_KNOWN)
_BARE = re.compile(
    f"(?P<placeholder>{_PLACEHOLDER}) | (?P<code>{_CODE}) {_TAIL}", re.VERBOSE
)
_QUOTED = re.compile(f"(?P<placeholder>{_PLACEHOLDER}) {_TAIL}", re.VERBOSE)


def look(value: str, *, quoted: bool) -> Looks:
    """Say what a value looks like, by its first 200 characters."""
    return _look(value[:LONGEST_JUDGED], quoted)


@lru_cache(maxsize=4_096)
def _look(value: str, quoted: bool, /) -> Looks:  # noqa: FBT001 - keywords are slower
    if value.lower().rstrip(".,;:!?)]}") in NO_VALUES:
        return "placeholder"
    match = (_QUOTED if quoted else _BARE).match(value)
    return cast("Looks", match.lastgroup) if match else "other"
