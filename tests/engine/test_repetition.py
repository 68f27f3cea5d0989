"""Agents that go round in circles about their compactions, and those that do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compaction.engine.messages import Kind, Role
from compaction.engine.presets import DEFAULT
from compaction.engine.repetition import (
    LoopKind,
    LoopSign,
    Step,
    Stretch,
    find_loops,
    likeness,
)

POLICY = DEFAULT.evolve(loop_runs=3, loop_turns=4, loop_rereads=2)
REQUEST = Step(role=Role.USER)


def used(name: str, number: int = 0, **arguments: Any) -> list[Step]:
    """A call and its result."""
    call_id = f"{name}{json.dumps(arguments)}{number}"
    call = (call_id, name, json.dumps(arguments))
    return [
        Step(role=Role.ASSISTANT, calls=(call,)),
        Step(role=Role.TOOL, answers=call_id, digest=call_id),
    ]


def read(path: str, number: int = 0, **more: Any) -> list[Step]:
    return used("read_file", number, path=path, **more)


def first(*steps: list[Step]) -> Stretch:
    return Stretch(steps=[REQUEST, *[step for group in steps for step in group]])


def then(*steps: list[Step], summary: str = "- go on", kept: int = 0) -> Stretch:
    """A summary, the last `kept` messages of five before, and new ones."""
    opening = [Step(role=Role.ASSISTANT, kind=Kind.SUMMARY)]
    new = [step for group in steps for step in group]
    return Stretch(steps=[*opening, *new], summary=summary)


def signs(*stretches: Stretch, kind: LoopKind = LoopKind.REREAD) -> list[LoopSign]:
    return [sign for sign in find_loops(stretches, POLICY) if sign.kind is kind]


def test_a_file_that_is_read_again_after_a_run_is_a_sign() -> None:
    (sign,) = signs(first(read("a.py")), then(read("a.py", 2)))

    (repeat,) = sign.repeats
    assert (sign.generation, repeat.what, repeat.position) == (1, "a.py", 1)
    assert repeat.before == (0, 1)
    assert not sign.is_alarm


def test_several_at_once_are_an_alarm() -> None:
    both = read("a.py"), read("b.py")
    (sign,) = signs(first(*both), then(read("a.py", 2), read("b.py", 2)))

    assert sign.is_alarm
    assert sign.count == 2


def test_the_same_file_after_each_run_is_an_alarm() -> None:
    last = signs(first(read("a.py")), then(read("a.py", 2)), then(read("a.py", 3)))[-1]

    assert last.is_alarm
    assert last.repeats[0].times == 2


def test_it_says_whether_the_summary_names_what_was_read_again() -> None:
    (sign,) = signs(
        first(read("a.py")), then(read("a.py", 2), summary="- `A.py`: read")
    )

    assert sign.repeats[0].is_told


@pytest.mark.parametrize(
    "change",
    [
        used("edit_file", path="a.py", old_string="x"),
        used("write_file", path="a.py", content="x"),
        used("bash", command="rm a.py"),
        [
            Step(
                role=Role.ASSISTANT,
                calls=(("c", "edit_file", '{"path": "a.py", "old'),),
            )
        ],
        [Step(role=Role.ASSISTANT, calls=(("c", "apply_patch", '{"input": "*** B'),))],
    ],
)
def test_a_file_that_changed_since_may_be_read_again(change: list[Step]) -> None:
    assert not signs(first(read("a.py"), change), then(read("a.py", 2)))


def test_another_part_of_a_file_is_another_reading() -> None:
    assert not signs(first(read("a.py", offset=1)), then(read("a.py", offset=90)))


def test_what_still_stands_in_the_window_was_not_lost() -> None:
    before = first(read("a.py"))
    stayed = [
        Step(
            role=step.role,
            calls=step.calls,
            answers=step.answers,
            digest=step.digest,
            origin=number,
        )
        for number, step in enumerate(before.steps)
    ]

    assert not signs(before, Stretch(steps=[*stayed, *read("a.py", 2)]))


def test_a_result_that_was_shortened_was_lost() -> None:
    before = first(read("a.py"))
    stayed = [
        Step(
            role=step.role,
            calls=step.calls,
            answers=step.answers,
            digest="short",
            origin=number,
        )
        for number, step in enumerate(before.steps)
    ]

    assert signs(before, Stretch(steps=[*stayed, *read("a.py", 2)]))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("grep", {"pattern": "x", "path": "src"}),
        ("bash", {"command": "cat src/a.py"}),
        ("bash", {"command": "rg -n TODO src"}),
        ("fetch_page", {"url": "https://example.org/a"}),
    ],
)
def test_searches_and_commands_that_only_look_count_too(
    name: str, arguments: dict[str, Any]
) -> None:
    assert signs(first(used(name, **arguments)), then(used(name, 2, **arguments)))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bash", {"command": "pytest -q"}),
        ("bash", {"command": "ls"}),
        ("send_mail", {"to": "a"}),
        ("read_file", {}),
    ],
)
def test_what_does_something_may_be_done_again(
    name: str, arguments: dict[str, Any]
) -> None:
    assert not signs(first(used(name, **arguments)), then(used(name, 2, **arguments)))


def test_reading_twice_without_a_run_between_is_no_sign() -> None:
    assert not signs(first(read("a.py"), read("a.py", 2)))


# --- summaries ---------------------------------------------------------------
NEARLY = " ".join(f"word{n}" for n in range(40))


def test_nearly_equal_summaries_without_a_user_between_are_an_alarm() -> None:
    chain = first(), then(summary=NEARLY), then(summary=f"{NEARLY} more")

    (sign,) = signs(*chain, kind=LoopKind.EQUAL_SUMMARIES)

    assert (sign.generation, sign.is_alarm) == (2, True)
    assert 0.9 < sign.share < 1


def test_an_update_after_the_user_spoke_is_none_but_an_equal_one_is() -> None:
    spoke = [REQUEST]
    updated = first(), then(spoke, summary=NEARLY), then(summary=f"{NEARLY} more")
    equal = first(), then(spoke, summary=NEARLY), then(summary=NEARLY)

    assert not signs(*updated, kind=LoopKind.EQUAL_SUMMARIES)
    assert signs(*equal, kind=LoopKind.EQUAL_SUMMARIES)


def test_likeness_counts_words_whatever_their_order() -> None:
    assert likeness("a b c", "c b a") == 1
    assert likeness("a b", "c d") == 0
    assert likeness("", "") == 1


# --- runs --------------------------------------------------------------------
def answers(count: int) -> list[Step]:
    return [Step(role=Role.ASSISTANT) for _ in range(count)]


def test_three_runs_within_few_answers_are_an_alarm() -> None:
    chain = first(), then(answers(2)), then(answers(2)), then(answers(9))

    (sign,) = signs(*chain, kind=LoopKind.RAPID_RUNS)

    assert (sign.generation, sign.count, sign.turns) == (3, 3, 4)


def test_three_runs_with_work_between_are_none() -> None:
    chain = first(), then(answers(2)), then(answers(3)), then(answers(9))

    assert not signs(*chain, kind=LoopKind.RAPID_RUNS)
    assert not find_loops([], POLICY)
