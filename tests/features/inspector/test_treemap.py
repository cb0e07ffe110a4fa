"""Shares as rectangles."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.features.inspector.treemap import laid_out


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 10_000), min_size=1, max_size=60).map(
        lambda found: sorted(found, reverse=True)
    )
)
def test_areas_are_shares_and_the_whole_is_filled(shares: list[int]) -> None:
    boxes = laid_out(shares, 1000, height=400)
    assert sorted(box.index for box in boxes) == list(range(len(shares)))
    for box in boxes:
        assert box.width * box.height == pytest.approx(
            shares[box.index] * 400_000 / sum(shares), rel=1e-6
        )
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= 1000 + 1e-6
        assert box.y + box.height <= 400 + 1e-6


def test_the_published_example_is_laid_out_as_published() -> None:
    boxes = laid_out([6, 6, 4, 3, 2, 2, 1], 6, height=4)
    assert [(round(box.width, 2), round(box.height, 2)) for box in boxes[:2]] == [
        (3.0, 2.0),
        (3.0, 2.0),
    ]
    assert max(max(box.width / box.height, box.height / box.width) for box in boxes) < 3.01


def test_nothing_has_no_rectangle() -> None:
    assert laid_out([], 10, height=10) == []
    assert [box.index for box in laid_out([2, 0], 10, height=10)] == [0]
