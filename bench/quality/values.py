"""What the blanks of the phrasings are filled with: made-up names and values."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

_ONSETS = ("br", "t", "k", "dr", "v", "l", "m", "sh", "pl", "g", "n", "qu", "z", "st")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "or", "el", "an", "im")
_THINGS = (
    *("invoice", "tariff", "voucher", "roster", "gauge", "manifest", "pallet", "crew"),
    *("atlas", "donor", "harvest", "clinic", "ferry", "quota", "menu", "sensor"),
    *("timetable", "waiver", "docket", "permit", "parcel", "studio", "lesson", "grant"),
)
_PARTS = (
    *("importer", "screen", "feed", "export", "widget", "job", "page", "adapter"),
    *("mailer", "form", "archive", "preview", "digest", "lookup", "board", "bridge"),
)
_ZH_THINGS = (
    *("发票", "班次", "仓位", "病历", "船票", "课程", "菜单", "配额", "许可", "包裹"),
    *("工单", "库存", "合同", "设备", "会员", "航线", "租约", "考勤", "运单", "公告"),
)
_ZH_PARTS = ("导入器", "页面", "报表", "接口", "任务", "组件", "归档", "预览", "看板")
_FOLDERS = ("src", "app", "lib", "web", "core", "services", "internal", "pkg", "ui")
_ENDINGS = ("py", "ts", "go", "rs", "vue", "sql", "yaml", "tsx", "rb", "java", "toml")
_HOSTS = ("example.org", "example.net", "corp.example", "test.example")


def make_name(dice: random.Random) -> str:
    """Make a word that no language has."""
    syllables = dice.choice((2, 2, 3))
    return "".join(
        dice.choice(_ONSETS) + dice.choice(_VOWELS) for _ in range(syllables)
    )


def make_path(dice: random.Random) -> str:
    """Make a relative path."""
    folders = "/".join(dice.sample(_FOLDERS, dice.choice((1, 2))))
    stem = dice.choice((make_name(dice), f"{make_name(dice)}_{dice.choice(_PARTS)}"))
    return f"{folders}/{dice.choice(_THINGS)}/{stem}.{dice.choice(_ENDINGS)}"


def _thing(dice: random.Random) -> str:
    return f"{make_name(dice)} {dice.choice(_THINGS)} {dice.choice(_PARTS)}"


def _zh_thing(dice: random.Random) -> str:
    return f"{make_name(dice)}{dice.choice(_ZH_THINGS)}{dice.choice(_ZH_PARTS)}"


def _uuid(dice: random.Random) -> str:
    raw = f"{dice.getrandbits(128):032x}"
    return "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))


def _url(dice: random.Random) -> str:
    host = f"{make_name(dice)}.{dice.choice(_HOSTS)}"
    return f"https://{host}/{dice.choice(_THINGS)}/{dice.randint(100, 99999)}"


def _date(dice: random.Random) -> str:
    month, day = dice.randint(1, 12), dice.randint(1, 28)
    return f"20{dice.randint(24, 31)}-{month:02d}-{day:02d}"


def _version(dice: random.Random) -> str:
    return f"{dice.randint(0, 19)}.{dice.randint(0, 40)}.{dice.randint(0, 99)}"


_MAKERS: Mapping[str, Callable[[random.Random], str]] = {
    "name": make_name,
    "other": make_name,
    "Name": lambda dice: make_name(dice).title(),
    "path": make_path,
    "thing": _thing,
    "物": _zh_thing,
    "n": lambda dice: str(dice.randint(3, 97)),
    "big": lambda dice: str(dice.randint(1_200, 9_800)),
    "port": lambda dice: str(dice.randint(2_000, 64_000)),
    "sha": lambda dice: f"{dice.getrandbits(160):040x}",
    "short": lambda dice: f"{dice.randint(0, 9)}{dice.getrandbits(32):08x}e",
    "uuid": _uuid,
    "url": _url,
    "date": _date,
    "version": _version,
    "ticket": lambda dice: f"{make_name(dice)[:3].upper()}-{dice.randint(100, 9999)}",
    "amount": lambda dice: f"{dice.randint(1, 900)},{dice.randint(100, 999)}.50",
    "ip": lambda dice: f"10.{dice.randint(1, 250)}.{dice.randint(0, 250)}.17",
}
_BLANK = re.compile(r"\{(\w+)\}")


def fill(phrasing: str, dice: random.Random, **given: str) -> str:
    """Fill each blank of a phrasing; the same blank twice gets the same value."""
    values = dict(given)

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in values:
            values[name] = _MAKERS[name](dice)
        return values[name]

    return _BLANK.sub(value, phrasing)
