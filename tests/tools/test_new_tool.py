"""What the templates of new tools share."""

from vespe.tools.new_tool import created_types, function_name, slots_schema


def test_the_types_that_a_new_tool_can_begin_with() -> None:
    assert created_types() == ("python_script", "shell_command", "http_request", "rust_function")


def test_a_keyword_is_no_function_name() -> None:
    assert (function_name("class"), function_name("a-b"), function_name("Good")) == (
        "class_",
        "a_b",
        "Good",
    )


def test_a_template_without_slots_has_no_inputs() -> None:
    assert slots_schema(["plain", 3, None]) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
