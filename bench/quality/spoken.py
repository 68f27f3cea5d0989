"""Groups in which a person or the agent says the fact."""

from __future__ import annotations

from typing import Any

from bench.inputs import make_prose
from bench.quality import phrasings_en as en, phrasings_zh as zh
from bench.quality.facts import Kind, Place, read_marked
from bench.quality.planter import Later, Plant, Planter
from bench.quality.values import fill

_NUMBERS = ("port", "columns", "days", "端口", "列。", "天。")
_BY_AGENT = ("I have", "Done", "- [x]", "已经", "重建")


def plant_goal(planter: Planter) -> Plant:
    """Begin: a system prompt, and what the user wants in the end."""
    phrase, text = read_marked(fill(planter.dice.choice(en.GOALS), planter.dice))
    system = {"role": "system", "content": make_prose(planter.dice, 900)}
    messages = [system, {"role": "user", "content": phrase}, *planter.looking()]
    return Plant(messages=messages, kind=Kind.GOAL, text=text, offset=1)


def _spoken(planter: Planter, kind: Kind, phrases: str, speaker: Place) -> Plant:
    tongue = planter.tongue()
    filled = fill(planter.dice.choice(getattr(tongue, phrases)), planter.dice)
    phrase, text = read_marked(filled)
    messages, offset = planter.said(phrase, speaker, tongue)
    return Plant(messages=messages, kind=kind, place=speaker, text=text, offset=offset)


def plant_constraint(planter: Planter, _: int) -> Plant:
    """Let the user state a rule."""
    return _spoken(planter, Kind.CONSTRAINT, "CONSTRAINTS", Place.USER)


def _either(planter: Planter) -> Place:
    return planter.dice.choice((Place.USER, Place.ASSISTANT))


def plant_todo(planter: Planter, _: int) -> Plant:
    """Let somebody name work that is left."""
    return _spoken(planter, Kind.TODO, "TODOS", _either(planter))


def plant_decision(planter: Planter, _: int) -> Plant:
    """Let the agent decide, with its reason."""
    return _spoken(planter, Kind.DECISION, "DECISIONS", Place.ASSISTANT)


def plant_question(planter: Planter, _: int) -> Plant:
    """Ask something; a third of the questions is answered at once."""
    if planter.dice.random() < 0.3:
        tongue = planter.tongue()
        asked, answer = planter.dice.choice(tongue.ANSWERED)
        phrase = fill(asked, planter.dice)
        messages, __ = planter.said(phrase, Place.ASSISTANT, tongue)
        reply = [{"role": "user", "content": answer}, *planter.looking()]
        return Plant(messages=[*messages, *reply])
    return _spoken(planter, Kind.QUESTION, "QUESTIONS", _either(planter))


def plant_identifier(planter: Planter, _: int) -> Plant:
    """Let somebody name an exact value."""
    return _spoken(planter, Kind.IDENTIFIER, "SAID", _either(planter))


def plant_change(planter: Planter, number: int) -> Plant:
    """Let the user state a value now, and another one some groups later."""
    dice = planter.dice
    if planter.opposed and dice.random() < 0.25:
        tongue, pair = planter.opposed.pop(dice.randrange(len(planter.opposed)))
        old, new = (fill(phrase, dice) for phrase in pair)
        return _promise(planter, number, tongue, (old, new), (old, new))
    tongue = planter.tongue()
    pair = dice.choice(tongue.CHANGES)
    is_number = any(word in pair[0] for word in _NUMBERS)
    blank = "7{big}" if is_number else "{name}{other}"  # unlike any other
    values = (fill(blank, dice), fill(blank, dice))
    thing = fill("{物}" if tongue is zh else "{thing}", dice)
    given = {"old": values[0], "new": values[1], "thing": thing, "物": thing}
    old, new = (fill(phrase, dice, **given) for phrase in pair)
    return _promise(planter, number, tongue, (old, new), values)


def _promise(
    planter: Planter,
    number: int,
    tongue: Any,
    phrases: tuple[str, str],
    values: tuple[str, str],
) -> Plant:
    key = f"change {number}"
    planter.later.append(
        Later(
            due=number + planter.dice.randint(4, 110),
            speaker=Place.USER,
            phrase=phrases[1],
            kind=Kind.CONSTRAINT,
            text=values[1],
            ends=key,
            successor=values[1],
        )
    )
    messages, offset = planter.said(phrases[0], Place.USER, tongue)
    return Plant(
        messages=messages,
        kind=Kind.CONSTRAINT,
        text=values[0],
        key=key,
        offset=offset,
    )


def plant_closed(planter: Planter, number: int) -> Plant:
    """Open a todo now, and close it or call it off later."""
    tongue, dice = planter.tongue(), planter.dice
    opened, closing = dice.choice(tongue.CLOSED)
    thing = fill("{物}" if tongue is zh else "{thing}", dice)
    given = {"thing": thing, "物": thing}
    phrase, text = read_marked(fill(opened, dice, **given))
    closing = fill(closing, dice, **given)
    by_agent = closing.startswith(_BY_AGENT)
    speaker = Place.ASSISTANT if by_agent else Place.USER
    key = f"closed {number}"
    planter.later.append(
        Later(
            due=number + dice.randint(3, 90),
            speaker=speaker,
            phrase=closing,
            kind=Kind.TODO,
            text="",
            ends=key,
            successor=closing.rstrip(".。"),
        )
    )
    messages, offset = planter.said(phrase, speaker, tongue)
    return Plant(
        messages=messages,
        kind=Kind.TODO,
        place=speaker,
        text=text,
        key=key,
        offset=offset,
    )


def plant_end(planter: Planter, later: Later) -> Plant:
    """Say the second half of a change, or close a todo."""
    tongue = zh if any(char >= "\u4e00" for char in later.phrase) else en
    messages, offset = planter.said(later.phrase, later.speaker, tongue)
    return Plant(
        messages=messages,
        kind=later.kind,
        place=later.speaker,
        text=later.text,
        key=f"after {later.ends}",
        offset=offset,
        ends=later.ends,
        successor=later.successor,
    )
