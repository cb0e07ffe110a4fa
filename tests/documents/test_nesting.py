import json
from typing import Any

import pytest

from vespe.documents import nesting


@pytest.mark.parametrize("levels", [1, 2, 5, 64])
def test_depth_counts_arrays_and_objects(levels: int) -> None:
    value = json.loads('{"a":' * (levels - 1) + "[]" + "}" * (levels - 1))
    assert not nesting.deeper_than(value, levels)
    assert nesting.deeper_than(value, levels - 1)


def test_depth_of_a_value_that_holds_itself_is_told_without_end() -> None:
    loop: list[Any] = []
    loop += [loop, loop, loop]
    assert nesting.deeper_than(loop, 64)


def test_a_value_that_is_no_array_or_object_has_no_depth() -> None:
    assert not nesting.deeper_than("x" * 100, 1)
