"""One way out of the sandbox."""

import dataclasses

import pytest

from vespe.features.escapes.ways import Way


def test_a_way_is_tried_by_a_tool_that_states_nothing_unless_it_says_otherwise() -> None:
    way = Way("read a key", "read(H/'.ssh/id')", "read(H/'notes')")
    assert (way.policy, way.gap, way.root_only) == ("default", "", False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        way.gap = "names"  # type: ignore[misc]  # it is frozen
