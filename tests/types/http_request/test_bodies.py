"""Bodies by themselves; `tests/features/imports/openapi/test_openapi_wire.py` holds them against what servers
expect, on the wire.
"""

from typing import Any

import pytest

from vespe.errors import InvalidArguments
from vespe.models import JsonObject, Tool
from vespe.types.http_request import bodies as http_bodies
from vespe.types.http_request.slots import Slots


def built(said: JsonObject, /, **inputs: Any) -> tuple[bytes | None, str]:
    schema = {"type": "object", "properties": {"body": {}, "a": {}}}
    slots = Slots(Tool(uid="tool-x", name="x", description="", input_schema=schema), inputs, {})
    return http_bodies.build(next(iter(said)), said, slots)


@pytest.mark.parametrize("kind", ["json", "form", "multipart", "text", "binary"])
def test_a_body_whose_input_is_absent_is_not_sent(kind: str) -> None:
    assert built({kind: "{body}"}) == (None, "")


def test_the_same_parts_are_the_same_bytes() -> None:
    assert built({"multipart": "{body}"}, body={"a": "x"}) == built(
        {"multipart": "{body}"}, body={"a": "x"}
    )


def test_what_is_no_base64_is_refused_and_a_data_url_is_taken() -> None:
    with pytest.raises(InvalidArguments, match="base64"):
        built({"binary": "{body}"}, body="not base64!")
    assert built({"binary": "{body}"}, body="data:text/plain,hi%20there")[0] == b"hi there"


def test_a_name_cannot_break_out_of_its_part() -> None:
    made, _ = built({"multipart": "{body}"}, body={'a"\r\nX: y': "v"})
    assert made is not None
    assert b'name="a%22%0D%0AX: y"' in made


def test_a_media_type_with_a_line_break_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="control character"):
        built(
            {"multipart": "{body}", "encoding": {"f": {"file": True}}},
            body={"f": "data:a/b\r\nX;base64,aGk="},
        )


def test_a_form_of_templates_leaves_out_what_is_absent_and_keeps_what_is_fixed() -> None:
    assert built({"form": {"a": "{a}", "b": "fixed"}}) == (
        b"b=fixed",
        "application/x-www-form-urlencoded",
    )
