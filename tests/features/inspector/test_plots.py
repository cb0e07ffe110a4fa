"""Durations over time as points."""

import pytest

from vespe.features.inspector.plots import scatter


def test_points_go_by_their_order_and_by_powers_of_ten() -> None:
    plot = scatter([(0.0, 1.0, "a"), (5.0, 10.0, "b"), (100.0, 100.0, "c")], 500, height=200)
    (ax, ay, a), (bx, by, b), (cx, cy, c) = plot.points
    assert (a, b, c) == ("a", "b", "c")
    assert bx - ax == pytest.approx(cx - bx, abs=0.2)
    assert ay - by == pytest.approx(by - cy, abs=0.2)
    assert [label for _, label in plot.upward] == ["1 ms", "10 ms", "100 ms"]


@pytest.mark.parametrize(
    "values",
    [
        [(5.0, 0.0, None)],
        [(5.0, 3.0, None), (5.0, 3.0, None)],
        [(0.0, 1.0, None), (1e9, 9e7, None)],
    ],
)
def test_every_point_is_within_the_plot(values: list[tuple[float, float, None]]) -> None:
    plot = scatter(values, 360, height=240)
    for x, y, _ in plot.points:
        assert plot.left <= x <= plot.width
        assert 0 <= y <= plot.bottom
