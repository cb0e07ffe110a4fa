"""Lines of the log, whatever stands in them."""

from vespe.features.inspector.logged import logged


def test_a_line_is_read_with_its_types() -> None:
    call = logged(
        {
            "id": "ab",
            "time": "2026-01-02T03:04:05.000Z",
            "tool": "t",
            "outcome": "ok",
            "duration_ms": 3,
            "arguments": {},
        }
    )
    assert (call.ok, call.duration_ms, call.arguments, call.at > 0) == (True, 3.0, {}, True)


def test_a_line_of_somebody_elses_making_is_empty_where_it_is_wrong() -> None:
    call = logged({"time": 5, "tool": ["t"], "duration_ms": "long", "error": None})
    assert (call.time, call.at, call.tool, call.duration_ms, call.error, call.ok) == (
        "",
        0.0,
        "",
        0.0,
        "",
        False,
    )
    assert logged({"time": "yesterday"}).at == 0.0
