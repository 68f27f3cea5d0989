"""Figures are medians, and both sides are measured in turn."""

from __future__ import annotations

from bench.measuring import cpu_seconds, side_by_side


def test_both_sides_take_turns_and_neither_always_goes_first():
    order: list[str] = []

    def side(name: str):
        def take() -> float:
            order.append(name)
            return 1.0

        return take

    side_by_side(side("ours"), side("other"), runs=3, warm_ups=1)

    assert order[:2] == ["ours", "other"]  # the warm-up
    assert order[2:] == ["ours", "other", "other", "ours", "ours", "other"]


def test_a_figure_is_the_median_of_its_runs_without_the_warm_up():
    ours = iter([900.0, 1.0, 50.0, 2.0])
    other = iter([900.0, 4.0, 4.0, 4.0])

    measured = side_by_side(lambda: next(ours), lambda: next(other), runs=3)

    assert (measured.ours, measured.other) == (2.0, 4.0)
    assert measured.ratio == 0.5
    assert "3 runs" in measured.note


def test_work_is_done_once_for_one_figure():
    done: list[int] = []

    assert cpu_seconds(lambda: done.append(1)) >= 0
    assert done == [1]
