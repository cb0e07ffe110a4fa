"""A tool's question as a form of a page, and the form as its answer."""

from typing import Any

import pytest

from vespe.calls.asking import ToolQuestion
from vespe.features.inspector.questions import content_of, fields_of, typed_in

TITLED = [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]
FIELDS: dict[str, Any] = {
    "name": {"type": "string", "title": "Your name", "description": "As you sign."},
    "mail": {"type": "string", "format": "email"},
    "age": {"type": "integer", "default": 3},
    "ratio": {"type": "number"},
    "sure": {"type": "boolean"},
    "size": {"type": "string", "oneOf": TITLED},
    "days": {"type": "array", "items": {"type": "string", "enum": ["mon", "tue"]}},
}
QUESTION = ToolQuestion(
    tool="paint",
    text="What?",
    key="what",
    schema={"type": "object", "properties": FIELDS, "required": ["name"]},
)


def test_each_kind_of_field_has_a_control_and_its_default() -> None:
    fields = {field.name: field for field in fields_of(QUESTION, {})}
    controls = {name: (field.control, field.input) for name, field in fields.items()}
    assert controls == {
        "name": ("line", "text"),
        "mail": ("line", "email"),
        "age": ("line", "text"),
        "ratio": ("line", "text"),
        "sure": ("choice", "text"),
        "size": ("choice", "text"),
        "days": ("choices", "text"),
    }
    assert fields["name"].required and fields["name"].about == "Your name. As you sign."
    assert fields["age"].values == ("3",) and fields["size"].choices[0] == ("s", "Small")
    typed = fields_of(QUESTION, {"age": ["x"], "days": ["mon", "tue"]})
    assert typed[2].values == ("x",) and typed[6].values == ("mon", "tue")


@pytest.mark.parametrize(
    ("typed", "content"),
    [
        ([("in:name", "Bo"), ("in:age", ""), ("token", "t")], {"name": "Bo"}),
        ([("in:age", "7"), ("in:ratio", "0.5")], {"age": 7, "ratio": 0.5}),
        ([("in:age", "seven")], {"age": "seven"}),
        ([("in:sure", "true")], {"sure": True}),
        ([("in:sure", "perhaps")], {"sure": "perhaps"}),
        ([("in:days", "mon"), ("in:days", "tue")], {"days": ["mon", "tue"]}),
        ([("in:name", "a\r\nb"), ("in:other", "x")], {"name": "a\nb"}),
    ],
)
def test_a_form_is_read_as_the_schema_says(typed: Any, content: Any) -> None:
    assert {"days": []} | content == content_of(QUESTION, typed_in(typed)) | (
        {} if "days" in content else {"days": []}
    )
