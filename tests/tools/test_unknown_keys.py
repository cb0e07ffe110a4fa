"""Keys of an author's that a writer keeps, and those that it does not."""

from vespe.tools.unknown_keys import kept

MADE = {
    "uid": "tool-a",
    "name": "a",
    "schema": {"input": {}},
    "implementation_details": {"type": "mcp_tool", "entrypoint": "a", "args": {}},
}


def test_unknown_keys_stay_and_known_ones_are_the_writers() -> None:
    former = {
        **MADE,
        "x": 1,
        "annotations": {"readOnlyHint": True},
        "schema": {"input": {"type": "object"}, "output": {}, "x": 2},
        "implementation_details": {"type": "mcp_tool", "path": "p", "x": 3},
    }
    made = kept(MADE, former)
    assert made == {
        **MADE,
        "x": 1,
        "schema": {"input": {}, "x": 2},
        "implementation_details": {**MADE["implementation_details"], "x": 3},  # type: ignore[dict-item]  # an object
    }
    assert list(made)[: len(MADE)] == list(MADE)


def test_what_was_said_of_another_type_does_not_come_along() -> None:
    other = {**MADE, "implementation_details": {"type": "wasm", "x": 3}, "schema": 1}
    assert kept(MADE, other) == MADE and kept(MADE, {}) == MADE
