"""What a shell_command may be."""

from typing import Any

import pytest

from vespe.tools.implementations import found_in_implementation

AT = "/implementation_details"


@pytest.mark.parametrize(
    ("details", "pointers"),
    [
        ({"entrypoint": "wc"}, []),
        ({"path": "bin/run"}, []),
        ({"path": "bin/run", "entrypoint": "../sh"}, []),
        ({}, [AT]),
        ({"path": None, "entrypoint": ""}, [AT]),
        ({"entrypoint": "bin/run"}, [f"{AT}/entrypoint"]),
        ({"entrypoint": "wc", "args": {"argv": ["a", ["b", [1]]]}}, [f"{AT}/args/argv/1/1/0"]),
        ({"entrypoint": "wc", "args": {"unknown": 1}}, []),
    ],
)
def test_it_names_a_program_or_its_own_file(details: dict[str, Any], pointers: list[str]) -> None:
    whole = {"type": "shell_command", **details}
    assert [one[0] for one in found_in_implementation({AT[1:]: whole})] == pointers
