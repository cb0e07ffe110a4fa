"""Bodies; `test_wire.py` holds what is sent for each."""

from pathlib import Path

import pytest

from tests.support.descriptions import described, imported, inputs_of, tool_of


def test_json_comes_before_what_else_a_body_may_be_and_that_is_said(tmp_path: Path) -> None:
    content = {
        "application/xml": {},
        "multipart/form-data": {},
        "application/json": {"schema": {"type": "object"}},
    }
    made = tool_of({"requestBody": {"content": content}}, tmp_path)
    assert made.document["implementation_details"]["args"]["body"] == {"json": "{body}"}
    assert "application/xml" in made.notes[0]


@pytest.mark.parametrize("body", [{}, {"content": {}}, {"content": []}, None, "text"])
def test_a_body_that_says_nothing_is_none(body: object, tmp_path: Path) -> None:
    assert inputs_of(tool_of({"requestBody": body}, tmp_path)) == {}


def test_a_body_that_leads_nowhere_is_a_reason(tmp_path: Path) -> None:
    (left,) = imported(
        described({"/x": {"post": {"requestBody": {"$ref": "#/nowhere"}}}}), tmp_path
    ).left_out
    assert left.reason == "its body cannot be read: #/nowhere leads nowhere"


def test_a_file_of_2_0_makes_the_form_one_of_parts(tmp_path: Path) -> None:
    said = {
        "parameters": [
            {"in": "formData", "name": "f", "type": "file"},
            {"in": "formData", "name": "a", "type": "string"},
        ]
    }
    made = tool_of(said, tmp_path, version="2.0", host="a.example")
    body = made.document["implementation_details"]["args"]["body"]
    assert body == {"multipart": {"f": "{f}", "a": "{a}"}, "encoding": {"f": {"file": True}}}
