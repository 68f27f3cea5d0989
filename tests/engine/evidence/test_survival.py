"""What became of each item: where the next generations tell it, or that they do not."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given, settings, strategies as st

from compaction.engine.evidence.chain import Generation, Spot
from compaction.engine.evidence.items import EvidenceKind
from compaction.engine.evidence.survival import KEPT, Fate, Life, trace
from compaction.engine.evidence.telling import needles, plain
from compaction.engine.messages import Kind, Message, Role
from tests.engine.builders import assistant, user
from tests.engine.evidence.saying import ran, used

FIRST = [
    user("Migrate the billing tables to the new schema. Never touch vendor/ at all."),
    *used("read_file", {"path": "src/ledger.py"}, "code"),
    *used("read_file", {"path": "src/tariff.py"}, "code"),
    *ran("make check", "ValueError: no such port 8471\nexit code: 2"),
    assistant("Both files are read."),
]


def summary(text: str) -> Message:
    return Message(role=Role.ASSISTANT, content=text, kind=Kind.SUMMARY)


def first() -> Generation:
    return Generation(key="a", messages=FIRST, origins=[None] * len(FIRST))


def second(
    text: str, kept: Sequence[int], new: Sequence[Message] = (), task: str = ""
) -> Generation:
    """The request, the summary, some messages that stayed, and what came then."""
    stayed = [FIRST[position] for position in kept]
    return Generation(
        key="b",
        messages=[FIRST[0], summary(text), *stayed, *new],
        origins=[0, None, *kept, *[None] * len(new)],
        task=task,
    )


def life_of(lives: Sequence[Life], kind: EvidenceKind, text: str) -> Life:
    (life,) = [x for x in lives if x.item.kind is kind and text in x.item.text]
    return life


def file_fate(generation: Generation, path: str = "src/tariff.py") -> Fate:
    lives = trace([first(), generation])
    return life_of(lives, EvidenceKind.FILE, path).fate


def test_a_path_that_the_summary_names_is_kept() -> None:
    assert file_fate(second("## Relevant Files\n- `src/tariff.py`", [])) is Fate.SUMMARY


def test_a_path_that_stands_nowhere_is_lost_in_that_generation() -> None:
    lives = trace([first(), second("## Goal\n- go on", [])])

    life = life_of(lives, EvidenceKind.FILE, "src/tariff.py")

    assert life.fates == (Fate.INTRODUCED, Fate.LOST)
    assert life.introduced == Spot(generation=0, position=3)
    assert life.lost_in == 1


def test_another_path_that_ends_alike_does_not_tell_it() -> None:
    assert file_fate(second("- `lib/src/tariff.pyc`", [])) is Fate.LOST


def test_a_message_before_the_summary_is_the_head_and_one_behind_it_the_tail() -> None:
    lives = trace([first(), second("- go on", [5, 6])])

    assert life_of(lives, EvidenceKind.GOAL, "Migrate").fate is Fate.HEAD
    assert life_of(lives, EvidenceKind.ERROR, "8471").fate is Fate.TAIL


def test_what_stays_where_nothing_was_summarised_is_in_a_message() -> None:
    pruned = Generation(key="b", messages=FIRST, origins=list(range(len(FIRST))))

    assert file_fate(pruned) is Fate.MESSAGE


def test_the_task_state_keeps_too() -> None:
    assert file_fate(second("- go on", [], task="[ ] read src/tariff.py")) is Fate.TASK


def test_a_lost_file_that_is_read_again_is_told_again_at_its_message() -> None:
    again = used("read_file", {"path": "src/tariff.py"}, "code")
    lives = trace([first(), second("- go on", [], new=again)])

    life = life_of(lives, EvidenceKind.FILE, "src/tariff.py")

    assert (life.fate, life.places[1]) == (Fate.AGAIN, 2)


def test_a_rule_in_other_words_counts_as_reworded_and_a_path_never_does() -> None:
    said = "- The user says: touch nothing in vendor/ at all, never.\n- read tariff"
    told = Generation(key="b", messages=[summary(said)], origins=[None])
    lives = trace([first(), told])

    assert life_of(lives, EvidenceKind.CONSTRAINT, "vendor").fate is Fate.REWORDED
    assert life_of(lives, EvidenceKind.FILE, "src/tariff.py").fate is Fate.LOST


def test_an_older_value_is_superseded_by_the_newer_one() -> None:
    newer = [user("Actually, keep answers below 500 words from now on.")]
    older = [user("Explain it. Keep answers below 300 words."), assistant("Yes.")]
    lives = trace(
        [
            Generation(key="a", messages=older, origins=[None, None]),
            Generation(key="b", messages=[*older, *newer], origins=[0, 1, None]),
        ]
    )

    life = life_of(lives, EvidenceKind.CONSTRAINT, "300")

    assert life.fates == (Fate.INTRODUCED, Fate.SUPERSEDED)
    assert life.successor is not None
    assert "500" in lives[life.successor].item.text


def test_what_an_unknown_past_told_has_no_message() -> None:
    opened = [summary("## Relevant Files\n- `src/old.py` - read"), user("Go on.")]
    lives = trace([Generation(key="a", messages=opened, origins=[None, None])])

    life = life_of(lives, EvidenceKind.FILE, "src/old.py")

    assert (life.introduced, life.fate) == (None, Fate.SUMMARY)


def test_nothing_is_traced_of_nothing() -> None:
    assert trace([]) == ()


# --- any lineage -------------------------------------------------------------
_WORDS = st.sampled_from(
    [
        *(
            "the port must be 8080",
            "never touch vendor/",
            "use src/a.py",
            "见 src/b.py",
        ),
        *("TODO: write tests", "ValueError: no 8471", "别改 config.yaml", "done", ""),
        *("actually the port must be 9090", "I decided on SQLite because it is small"),
    ]
)
_TEXT = st.lists(_WORDS, max_size=3).map(". ".join)


@st.composite
def _lineages(draw: st.DrawFn) -> list[Generation]:
    generations: list[Generation] = []
    for number in range(draw(st.integers(1, 4))):
        messages: list[Message] = []
        origins: list[int | None] = []
        if generations:
            before = generations[-1].messages
            kept = draw(st.sets(st.integers(0, len(before) - 1))) if before else set()
            messages = [before[place] for place in sorted(kept)]
            origins = [*sorted(kept)]
            messages.append(summary(draw(_TEXT)))
            origins.append(None)
        for _ in range(draw(st.integers(0, 3))):
            new = draw(st.one_of(_TEXT.map(user), _TEXT.map(assistant)))
            read = used("read_file", {"path": draw(_TEXT)}, draw(_TEXT))
            added = [new, *read] if draw(st.booleans()) else [new]
            messages += added
            origins += [None] * len(added)
        generations.append(
            Generation(
                key=str(number), messages=messages, origins=origins, task=draw(_TEXT)
            )
        )
    return generations


@settings(max_examples=150, deadline=None)
@given(_lineages())
def test_each_item_has_one_fate_per_generation_in_the_order_of_a_life(
    lineage: list[Generation],
) -> None:
    for life in trace(lineage):
        assert len(life.fates) == len(life.places) == len(lineage)
        began = life.introduced.generation if life.introduced else -1
        for number, fate in enumerate(life.fates):
            assert (fate is Fate.ABSENT) == (number < began)
            assert (fate is Fate.INTRODUCED) == (number == began)


@settings(max_examples=150, deadline=None)
@given(_lineages())
def test_nothing_is_called_lost_that_stands_in_the_window(
    lineage: list[Generation],
) -> None:
    for life in trace(lineage):
        for generation, fate in zip(lineage, life.fates, strict=True):
            if fate is Fate.LOST:
                window = plain(_window(generation))
                assert not all(f" {n} " in f" {window} " for n in needles(life.item))


def _window(generation: Generation) -> str:
    texts = [generation.task]
    for message in generation.messages:
        texts.append(message.text)
        for call in message.tool_calls:
            texts += map(str, json.loads(call.arguments).values())
    return "\n".join(texts)


def test_kept_says_nothing_of_what_is_gone() -> None:
    assert not KEPT & {Fate.LOST, Fate.ABSENT, Fate.AGAIN, Fate.SUPERSEDED}
