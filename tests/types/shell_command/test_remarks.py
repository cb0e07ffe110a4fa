"""What lint says of a command, as data."""

import pytest

from vespe.models import JsonObject
from vespe.types.shell_command.remarks import destroys, remarks

INPUTS: JsonObject = {"type": "object", "properties": {"file": {"type": "string"}}}


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ({"entrypoint": "cat", "args": {"argv": ["--", "{file}"]}}, []),
        (
            {"entrypoint": "cat", "args": {"argv": ["{file}"]}},
            [("safety-argv-option", "/implementation_details/args/argv/0")],
        ),
        (
            {"entrypoint": "sh", "args": {"argv": ["-c", "cat {file}"]}},
            [("safety-shell", "/implementation_details/args/argv/1")],
        ),
        (
            {"entrypoint": "cat", "args": {"argv": [["${env:KEY}"]]}},
            [("safety-literal-secret", "/implementation_details/args/argv/0/0")],
        ),
        (
            {"entrypoint": "no-such-program"},
            [("layout-program", "/implementation_details/entrypoint")],
        ),
        ({"entrypoint": 3, "args": []}, []),
    ],
)
def test_each_remark_has_the_code_of_its_rule_and_its_place(
    details: JsonObject, said: list[tuple[str, str]]
) -> None:
    assert [(remark.code, remark.pointer) for remark in remarks(details, INPUTS)] == said


def test_programs_that_are_known_to_destroy_are_told() -> None:
    assert destroys({"entrypoint": "rm"}) == "run rm"
    assert destroys({"entrypoint": "cat"}) is None and destroys({"entrypoint": []}) is None
