"""Tools as declarations: what a type checker reads is what the schema says."""

import ast
from dataclasses import replace
from typing import Any

import pytest

from vespe.adapters.type_declarations import declarations, function_stub, positional
from vespe.models import JsonObject, Tool

TREE = {
    "$ref": "#/$defs/node",
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
}
TYPES: list[tuple[JsonObject, str, str]] = [
    ({"type": "string"}, "str", "string"),
    ({"type": ["integer", "null"]}, "int | None", "number | null"),
    ({"enum": ["a", "b"]}, "Literal['a', 'b']", '"a" | "b"'),
    ({"const": 3}, "Literal[3]", "3"),
    ({"type": "array", "items": {"type": "number"}}, "list[float]", "Array<number>"),
    ({"anyOf": [{"type": "string"}, {"type": "boolean"}]}, "str | bool", "string | boolean"),
    (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        "dict[str, int]",
        "Record<string, number>",
    ),
    (
        {"type": "object", "properties": {"a-b": {"type": "string"}}, "required": ["a-b"]},
        "dict[str, Any]",
        '{ "a-b": string }',
    ),
    ({}, "Any", "unknown"),
    ({"$ref": "#/nowhere"}, "Any", "unknown"),
]


def tool(name: str = "t", **properties: Any) -> Tool:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [key for key in properties if key != "maybe"],
    }
    return Tool(uid=name, name=name, description='Say "hi" */ and """more""".', input_schema=schema)


@pytest.mark.parametrize(
    ("schema", "python", "typescript"),
    TYPES,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_schema_is_said_in_both_languages(
    schema: JsonObject, python: str, typescript: str
) -> None:
    stub = declarations([tool(value=schema)], "python-stubs")
    assert ast.parse(stub) and f"(*, value: {python}) -> Any:" in stub
    assert f"value: {typescript} }}): Promise<unknown>;" in declarations(
        [tool(value=schema)], "typescript"
    )


def test_what_may_be_left_out_says_so_and_names_that_are_none_are_kept() -> None:
    stub = declarations(
        [tool("git.log", maybe={"type": "string"}, **{"from": {"type": "string"}})], "python-stubs"
    )
    assert ast.parse(stub) and "def _git_log(*, maybe: str = ..., **others: Any)" in stub
    typed = declarations(
        [tool("git.log", maybe={"type": "string"}, **{"from": {"type": "string"}})], "typescript"
    )
    assert (
        '"git.log"(input: { maybe?: string; from: string })' in typed
        and "*/ and" not in typed.split("/**")[1].split("\n")[0][:-3]
    )


def test_a_schema_that_refers_to_itself_ends() -> None:
    recursive = Tool(uid="r", name="r", description="d", input_schema=TREE)
    assert ast.parse(declarations([recursive], "python-stubs")) and "unknown" in declarations(
        [recursive], "typescript"
    )


def test_a_function_takes_arguments_by_position_in_the_order_of_the_schema() -> None:
    tool = Tool(
        uid="",
        name="a-b",
        description="Do it.",
        input_schema={
            "type": "object",
            "properties": {"b": {"type": "string"}, "n": {"type": "integer"}, "x-y": {}, "a": {}},
            "required": ["b"],
        },
    )
    assert positional(tool) == ("b", "n")
    assert function_stub(tool, "a_b") == (
        'def a_b(b: str, n: int = ..., *, a: Any = ..., **others: Any) -> Any:\n    """Do it."""\n'
    )
    late = replace(tool, input_schema={"properties": {"a": {}, "b": {}}, "required": ["b"]})
    assert positional(late) == ("a",)
    assert function_stub(late, "f").startswith("def f(a: Any = ..., *, b: Any) -> Any:")
