"""Arguments are strict JSON, held to the schema, and completed with its defaults."""

import pytest

from vespe.calls.arguments import checked_inputs, parsed_arguments
from vespe.errors import ParsingError
from vespe.models import Tool

ECHO = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "times": {"type": "integer", "default": 1}},
}


def test_defaults_of_the_schema_are_filled_in_and_the_input_is_not_touched() -> None:
    tool = Tool(uid="tool-e", name="e", description="E.", input_schema=ECHO)
    given = {"text": "a"}
    assert checked_inputs(tool, given) == {"text": "a", "times": 1} and given == {"text": "a"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        "null",
        b"\xff",
        '{"a": "\\ud800"}',
        "[" * 100 + "]" * 100,
    ],
)
def test_p23_what_is_not_one_strict_json_object_never_runs(text: str | bytes) -> None:
    with pytest.raises(ParsingError):
        parsed_arguments(text)


def test_the_place_of_broken_json_is_quoted() -> None:
    with pytest.raises(ParsingError, match=r"the text is not JSON: .*near '.*oops"):
        parsed_arguments('{"path": oops}')
