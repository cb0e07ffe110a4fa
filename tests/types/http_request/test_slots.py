"""Inputs and secrets in the places that a tool's `args` name."""

from typing import Any

import pytest

from vespe.models import Tool
from vespe.types.http_request.slots import ABSENT, Slots

SCHEMA = {"type": "object", "properties": {"a": {}, "b": {}, "many": {}}}
TOOL = Tool(uid="tool-a", name="a", description="", input_schema=SCHEMA)


def slots(*, secrets: dict[str, str] | None = None, **inputs: Any) -> Slots:
    return Slots(TOOL, inputs, secrets)


@pytest.mark.parametrize(
    "value", ["text", "", 3, 1.5, True, None, [1, "x"], {"k": [None]}], ids=repr
)
def test_a_text_that_is_one_slot_becomes_the_value_with_its_type(value: Any) -> None:
    assert slots(a=value).structure({"k": ["{a}"]}) == {"k": [value]}


def test_absent_inputs_leave_out_their_members_and_items() -> None:
    shape = {"x": "{a}", "y": "v {a}", "z": [1, "{a}", {"w": "{a}"}], "lit": "{other}"}
    assert slots().structure(shape) == {"z": [1, {}], "lit": "{other}"}
    assert slots().structure("{a}") is ABSENT
    assert slots().structure("text {a}") is ABSENT


def test_a_slot_in_a_text_is_written_into_it() -> None:
    assert slots(a=[1], b="x").structure("{a}-{b}") == "[1]-x"


def test_what_is_filled_in_is_never_read_again() -> None:
    filled = slots(a="{b}${env:KEY}", b="no", secrets={"KEY": "{a}"})
    assert filled.structure({"k": "{a}", "l": "{a}!", "m": "${env:KEY}"}) == {
        "k": "{b}${env:KEY}",
        "l": "{b}${env:KEY}!",
        "m": "{a}",
    }


def test_texts_repeat_for_a_list_and_vanish_for_an_absent_input() -> None:
    assert slots(many=[1, "b", None]).texts("{many}") == ["1", "b", "null"]
    assert slots(many=[]).texts("{many}") == []
    assert slots().texts("{a}") == []
    assert slots(a="x").texts(["{a}", 2, "{b}", True]) == ["x", "2", "true"]
    assert slots(many=[1]).texts("v={many}") == ["v=[1]"]


def test_secrets_stay_to_be_shown_where_there_are_none() -> None:
    assert slots(a="x").fill("{a} ${env:KEY}") == "x ${env:KEY}"
    assert slots(a="x", secrets={"KEY": "s"}).fill("{a} ${env:KEY}") == "x s"


def test_a_credential_takes_secrets_alone() -> None:
    assert slots(a="x", secrets={"KEY": "s"}).fill_secrets("{a}${env:KEY}") == "{a}s"
    assert slots().fill_secrets("") == ""
