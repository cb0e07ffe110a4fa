"""The comments of argc."""

from typing import Any

import pytest

from vespe.features.imports import argc


@pytest.mark.parametrize(
    ("line", "name", "schema", "required"),
    [
        ("@option --a-b! The text.", "a_b", {"type": "string", "description": "The text."}, True),
        ("@option --a The text.", "a", {"type": "string", "description": "The text."}, False),
        (
            "@option --a* Each.",
            "a",
            {"type": "array", "items": {"type": "string"}, "description": "Each."},
            False,
        ),
        (
            "@option --a+ Each.",
            "a",
            {"type": "array", "items": {"type": "string"}, "description": "Each."},
            True,
        ),
        (
            "@option --a[x|y] One.",
            "a",
            {"type": "string", "enum": ["x", "y"], "description": "One."},
            False,
        ),
        (
            "@option --a![=x|y] One.",
            "a",
            {"type": "string", "enum": ["x", "y"], "description": "One."},
            True,
        ),
        (
            "@option --a=5 <INT> How many.",
            "a",
            {"type": "integer", "description": "How many. Default: 5."},
            False,
        ),
        ("@option --id! <INT> The id", "id", {"type": "integer", "description": "The id"}, True),
        ("@option -a --all <NUM>", "all", {"type": "number"}, False),
        ("@flag --force Do it.", "force", {"type": "boolean", "description": "Do it."}, False),
        ("@flag -f --force", "force", {"type": "boolean"}, False),
        ("@arg file! <PATH> A file.", "file", {"type": "string", "description": "A file."}, True),
    ],
)
def test_an_option_is_an_input(
    line: str, name: str, schema: dict[str, Any], required: bool
) -> None:
    (command,) = argc.parse(f"# @describe D.\n# {line}\nmain() {{\n}}\n").commands
    made = argc.inputs(command)
    assert (made["properties"], "required" in made) == ({name: schema}, required)


SEVERAL = """
# @env TOKEN! The token
# @env OTHER The other
# @env LLM_OUTPUT=/dev/stdout
# @meta require-tools jq,curl

# @cmd Add one.
# More of it.
# @option --x!
add() {
  _hidden
}
# Not a tool.
_hidden() {
}
# @cmd Take one.
function take {
}
"""


def test_each_command_is_one_and_variables_are_told_apart() -> None:
    script = argc.parse(SEVERAL)
    assert [
        (command.name, command.description, len(command.options)) for command in script.commands
    ] == [
        ("add", "Add one. More of it.", 1),
        ("take", "Take one.", 0),
    ]
    assert [(variable.name, variable.required) for variable in script.variables] == [
        ("TOKEN", True),
        ("OTHER", False),
    ]
    assert script.needs == ("jq", "curl")


@pytest.mark.parametrize(
    "text", ["", "#", "# @option", "# @option --", "# @cmd", "\x00", "# @describe x\n" * 1000]
)
def test_a_script_that_says_nothing_is_one_command(text: str) -> None:
    assert len(argc.parse(text).commands) == 1
