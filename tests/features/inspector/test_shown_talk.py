"""What a page shows of a call, and of what was said."""

import json

import pytest

from vespe.features.inspector.shown_talk import shown_call, text_in


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        ([{"type": "text", "text": "a"}, {"type": "image"}, "b", 3], "a\n[image]\nb"),
        (None, ""),
        (5, ""),
    ],
)
def test_what_a_message_says_is_text_in_any_apis_shape(content: object, text: str) -> None:
    assert text_in(content) == text


def test_a_call_is_shown_by_its_arguments_and_a_program_by_its_code() -> None:
    def shown(name: str, arguments: str) -> tuple[str, bool]:
        call = shown_call({"function": {"name": name, "arguments": arguments}}, outcome=None)
        return call.arguments, call.is_program

    assert shown("a", '{"x": 1}') == ('{"x":1}', False)
    assert shown("a", json.dumps({"x": "y" * 100})) == (f'{{\n  "x": "{"y" * 100}"\n}}', False)
    assert shown("a", "no json") == ("no json", False)
    assert shown("run_code", '{"code": "1\\n2"}') == ("1\n2", True)
    assert shown("run_code", '{"code": 5}') == ('{"code":5}', False)
    assert shown_call({"function": 5}, outcome=None).name == "None"
