"""What a row comes to, what is printed, and with which status the benchmark ends."""

from __future__ import annotations

import re

import pytest

from bench.__main__ import main
from bench.report import write_figure, write_ratio
from bench.rows import Measured, Row, Skipped, Status, measure_row
from bench.workshop import Workshop

LINE = re.compile(r"\S+ +\S+ +\S+ +\S+ +<=\S+ (pass|fail|skipped|ran)")


def row_of(ours: float, other: float, *, target: str = "2", name: str = "made") -> Row:
    return Row(
        name=name,
        target=target,
        measure=lambda _: Measured(ours=ours, other=other),
        against="a figure of this test",
    )


def skipped(_: Workshop) -> Measured:
    raise Skipped("there is no peer here")


def broken(_: Workshop) -> Measured:
    raise ValueError("this row\nfell over")


SKIPPED = Row(name="gone", target="2", measure=skipped, against="nothing")
BROKEN = Row(name="broken", target="2", measure=broken, against="nothing")


@pytest.fixture
def workshop():
    with Workshop(is_quick=False) as made:
        yield made


@pytest.fixture
def quick_workshop():
    with Workshop(is_quick=True) as made:
        yield made


def lines(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    ("ours", "target", "status"),
    [
        (2.0, "2", Status.PASS),
        (2.0001, "2", Status.FAIL),
        (0.001, "1/1000", Status.PASS),
        (0.0011, "1/1000", Status.FAIL),
        (1.2, "1.2", Status.PASS),
        (0.0, "1/100", Status.PASS),
    ],
)
def test_a_row_passes_up_to_its_target(workshop, ours, target, status):
    assert measure_row(row_of(ours, 1.0, target=target), workshop).status is status


def test_a_row_against_nothing_fails(workshop):
    assert measure_row(row_of(1.0, 0.0), workshop).status is Status.FAIL


def test_a_row_that_falls_over_fails_and_says_why_on_one_line(workshop):
    result = measure_row(BROKEN, workshop)

    assert result.status is Status.FAIL
    assert result.note == "ValueError: this row fell over"


def test_a_row_that_cannot_be_measured_is_skipped_and_says_why(workshop):
    result = measure_row(SKIPPED, workshop)

    assert result.status is Status.SKIPPED
    assert result.note == "there is no peer here"


def test_tiny_sizes_judge_no_speed_but_a_row_that_falls_over_fails(quick_workshop):
    assert measure_row(row_of(9.0, 1.0), quick_workshop).status is Status.RAN
    assert measure_row(BROKEN, quick_workshop).status is Status.FAIL


def test_one_failing_row_makes_the_status_1(capsys):
    assert main([], (row_of(1.0, 1.0), row_of(3.0, 1.0, name="slow"))) == 1
    assert [line.split()[-1] for line in lines(capsys.readouterr().out)] == [
        "pass",
        "fail",
    ]


def test_a_row_that_falls_over_makes_the_status_1_and_the_others_go_on(capsys):
    assert main([], (BROKEN, row_of(1.0, 1.0))) == 1
    assert len(lines(capsys.readouterr().out)) == 2


def test_a_skipped_row_is_no_failure_and_its_reason_is_printed(capsys):
    assert main([], (SKIPPED, row_of(1.0, 1.0))) == 0

    printed = capsys.readouterr().out
    assert lines(printed)[0].split()[-1] == "skipped"
    assert "# gone: against nothing; there is no peer here" in printed


def test_every_row_is_one_line_of_six_columns(capsys):
    main([], (SKIPPED, BROKEN, row_of(0.0004, 1.0, target="1/1000")))

    printed = lines(capsys.readouterr().out)
    assert len(printed) == 3
    assert all(LINE.fullmatch(line) for line in printed)
    assert printed[2].split() == ["made", "400us", "1s", "1/2,500", "<=1/1000", "pass"]


def test_rows_are_chosen_by_name_or_by_the_name_before_the_slash(capsys):
    rows = (
        row_of(1.0, 1.0, name="a/L"),
        row_of(1.0, 1.0, name="a/W"),
        row_of(9.0, 1.0, name="b"),
    )

    assert main(["a"], rows) == 0
    assert main(["a/W"], rows) == 0
    assert main(["b"], rows) == 1
    names = [line.split()[0] for line in lines(capsys.readouterr().out)]
    assert names == ["a/L", "a/W", "a/W", "b"]


def test_an_unknown_name_is_told_and_nothing_is_measured(capsys):
    assert main(["made", "unheard"], (BROKEN, row_of(1.0, 1.0))) == 2
    assert "No row is named unheard" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(12.34, "12.3s"), (0.0441, "44.1ms"), (5.2e-5, "52us"), (4e-8, "40ns")],
)
def test_a_figure_has_the_unit_that_makes_it_readable(seconds, written):
    assert write_figure(seconds, "s") == written


def test_a_small_ratio_is_written_as_its_target_is():
    assert write_ratio(0.0005) == "1/2,000"
    assert write_ratio(1.387) == "1.39"
