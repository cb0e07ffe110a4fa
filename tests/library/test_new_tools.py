"""What a program says of a new tool."""

from typing import Any, cast

import pytest

from vespe.errors import UsageError
from vespe.library.new_tools import ToolDraft, drafted

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
DETAILS = {"type": "shell_command", "entrypoint": "printf", "args": {"argv": ["{a}"]}}


def test_a_tool_is_made_of_a_schema_and_an_implementation() -> None:
    document = drafted("say", SCHEMA, DETAILS, draft={"tags": ["x"]}).document
    assert (
        document
        == drafted(
            "say", None, DETAILS, draft={"fields": {"tags": ["x"], "schema": SCHEMA}}
        ).document
    )
    assert document["implementation_details"]["entrypoint"] == "printf" and document["tags"] == [
        "x"
    ]


def test_every_key_of_a_tool_can_be_given() -> None:
    more: dict[str, Any] = {
        "secrets": ["KEY"],
        "annotations": {"readOnlyHint": True},
        "limits": {"timeout_s": 3},
        "version": "1",
    }
    document = drafted(
        "t", None, None, draft=cast(ToolDraft, {"type": "python_script", **more})
    ).document
    assert {key: document[key] for key in more} == more


@pytest.mark.parametrize(
    ("details", "draft"),
    [
        (None, {}),
        (None, {"type": "python_script", "source": "a.py:b"}),
        (DETAILS, {"type": "python_script"}),
        (None, {"type": "python_script", "colour": "red"}),
    ],
)
def test_what_says_nothing_too_much_or_an_unknown_key_is_refused(details: Any, draft: Any) -> None:
    with pytest.raises(UsageError):
        drafted("t", None, details, draft=draft)
