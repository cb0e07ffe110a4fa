"""What a new tool begins with: it runs at once, and follows what the user already said."""

import shutil

import pytest

from vespe.models import JsonObject
from vespe.schemas.validator import check_schema
from vespe.tools import new_tool
from vespe.tools.new_tool import (
    function_name,
    http_template,
    python_template,
    shell_template,
    slots_schema,
)


@pytest.mark.parametrize("given", [False, True])
def test_the_python_template_defines_its_function_and_returns_something_useful(given: bool) -> None:
    template, space = python_template("count-it", None, given=given), dict[str, object]()
    exec(template.script, space)
    function = space[template.entrypoint]
    assert callable(function) and template.entrypoint == "count_it"
    assert function(text="a b") == (
        {"received": {"text": "a b"}} if given else {"characters": 3, "words": 2, "lines": 1}
    )


def test_a_keyword_is_no_function_name() -> None:
    assert (function_name("class"), function_name("a-b"), function_name("Good")) == (
        "class_",
        "a_b",
        "Good",
    )


def test_the_shell_template_names_a_program_that_every_system_has() -> None:
    for template in (
        shell_template(None, None, None),
        shell_template({"type": "object"}, None, None),
    ):
        assert shutil.which(template.entrypoint, path="/usr/bin:/bin")


def test_no_template_has_required_inputs() -> None:
    schemas = [
        shell_template(None, None, None).input_schema,
        http_template(None, None, None).input_schema,
    ]
    assert [schema.get("required", []) for schema in schemas] == [[], []]
    assert [check_schema(schema) for schema in schemas] == [[], []]


def test_the_users_own_arguments_give_the_inputs() -> None:
    args: JsonObject = {
        "argv": ["-n", ["--max", "{count}"], "{pattern}", "{env_file}", "${env:KEY}", "{ not }"],
        "stdin": "{text}",
    }
    template = shell_template(None, args, "grep")
    assert (template.entrypoint, template.args) == ("grep", args)
    assert template.input_schema["properties"].keys() == {"count", "pattern", "env_file", "text"}
    assert template.input_schema["required"] == ["pattern", "env_file", "text"]


def test_a_program_alone_runs_without_arguments() -> None:
    template = shell_template(None, None, "date")
    assert (template.args, template.input_schema["properties"]) == ({"argv": []}, {})


def test_with_a_schema_alone_the_shell_template_gives_the_inputs_back() -> None:
    schema: JsonObject = {"type": "object", "properties": {"a": {"type": "integer"}}}
    template = shell_template(schema, None, None)
    assert (template.entrypoint, template.args["stdin"], template.input_schema) == (
        "cat",
        "json",
        schema,
    )


def test_the_slots_of_a_url_are_required_and_those_of_the_query_are_not() -> None:
    template = http_template(
        None, {"query": {"q": "{words}", "page": "{id}"}}, "https://example.org/{id}/x"
    )
    assert template.input_schema["properties"].keys() == {"id", "words"}
    assert template.input_schema["required"] == ["id"]


def test_a_schema_alone_fills_the_query() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "q": {"type": "string"}},
    }
    assert http_template(schema, None, "https://example.org/{id}").args == {
        "query": {"q": "{q}"},
        "response": "json",
    }
    assert http_template(schema, None, None).path == new_tool.PLACEHOLDER_URL
    assert http_template(None, None, "https://example.org").args == {"response": "json"}


def test_a_template_without_slots_has_no_inputs() -> None:
    assert slots_schema(["plain", 3, None]) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
