"""How a broken limit is worded, and how grave it is."""

from tests.features.lint.judging import rules_of, subject
from vespe.adapters.limits import limits_on
from vespe.features.lint.refusals import inputs, limits_for, refused, sent_as_openapi, types
from vespe.features.lint.rules import portability

(ITEMS,) = limits_on("array-items", api="openai")
GEMINI = {"": "", "input_schema": "/functionDeclarations/0/parameters"}
AS_JSON_SCHEMA = {"": "", "input_schema": "/functionDeclarations/0/parametersJsonSchema"}


def test_a_refusal_names_the_api_and_is_as_grave_as_its_limit() -> None:
    found = refused(ITEMS, "takes no such thing", "input_schema", pointer="/a")
    assert (found.message, found.target, found.severity, found.pointer) == (
        "OpenAI takes no such thing",
        "openai",
        "error",
        "/a",
    )
    assert refused(ITEMS, "x", "", severity="info").severity == "info"


def test_the_inputs_are_the_subschemas_of_the_input_schema_alone() -> None:
    both = subject(
        input_schema={"type": "object", "properties": {"a": {}}}, output_schema={"type": "object"}
    )
    assert [node.pointer for node in inputs(both)] == ["", "/properties/a"]


def test_types_are_a_list_whatever_the_schema_holds() -> None:
    assert [
        list(types(schema)) for schema in ({"type": "a"}, {"type": ["a", 1]}, {"type": 3}, {})
    ] == [["a"], ["a"], [], []]


def test_gemini_is_judged_by_its_openapi_subset_only_in_parameters() -> None:
    assert sent_as_openapi(subject(api="gemini", pointers=GEMINI))
    assert not sent_as_openapi(subject(api="bare", pointers=GEMINI))
    as_json_schema = subject(api="gemini", pointers=AS_JSON_SCHEMA)
    assert [limit.api for limit in limits_for("array-items", as_json_schema)] == ["openai"]


def test_a_rule_speaks_for_the_apis_that_have_its_limits_and_is_as_grave_as_the_gravest() -> None:
    by_code = {rule.code: rule for rule in rules_of(portability)}
    assert by_code["portability-name-length"].targets == {"openai", "anthropic", "gemini", "mcp"}
    assert by_code["portability-name-length"].severity == "error"
    assert by_code["portability-root-properties"].severity == "warning"
