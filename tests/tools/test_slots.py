"""Braces that contain no input's name."""

from typing import Any

import pytest

from vespe.tools import slots

SCHEMA = {"type": "object", "properties": {"paht": {"type": "string"}, "count": {}}}


@pytest.mark.parametrize(
    ("details", "found"),
    [
        ({"type": "shell_command", "args": {"argv": ["{paht}", ["-n", "{count}"]]}}, []),
        (
            {"type": "shell_command", "args": {"argv": ["-l", ["{path}", "{zzz}"]]}},
            [(("args", "argv", 1, 0), "path", "paht"), (("args", "argv", 1, 1), "zzz", "")],
        ),
        (
            {"type": "http_request", "path": "https://example.org/{cuont}"},
            [(("path",), "cuont", "count")],
        ),
        ({"type": "shell_command", "args": {"argv": ["{print $1}", "{}"]}}, []),
        ({"type": "python_script", "path": "a.py", "entrypoint": "f"}, []),
        ({}, []),
    ],
)
def test_each_name_is_told_with_its_place_and_the_input_that_it_is_like(
    details: dict[str, Any], found: list[Any]
) -> None:
    assert list(slots.unknown(details, SCHEMA)) == found
