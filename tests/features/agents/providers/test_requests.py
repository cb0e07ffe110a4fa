"""What every request holds: options that Vespe lets pass, and tools of either kind in the API's own
shape.
"""

import json
from dataclasses import replace

import pytest

from vespe.adapters import SHAPES
from vespe.adapters.anthropic import AnthropicShape
from vespe.adapters.openai import OpenAIShape
from vespe.errors import InvalidDocument, UsageError
from vespe.features.agents.providers import requests
from vespe.features.agents.providers.base import ShownTools
from vespe.models import JsonObject, Tool

TOOL = Tool(
    uid="u", name="add", description="Add.", input_schema={"type": "object", "properties": {}}
)
FUNCTION = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add.",
        "parameters": {"type": "object", "properties": {}},
    },
}


@pytest.mark.parametrize("name", ["messages", "tools", "stream", "system", "model"])
def test_what_follows_from_the_conversation_is_no_option(name: str) -> None:
    with pytest.raises(UsageError, match=f"the option '{name}' cannot be set"):
        requests.checked_options({name: []})


def test_an_option_that_is_none_takes_its_key_away() -> None:
    assert requests.with_options(
        {"a": 1, "stream_options": {}}, {"stream_options": None, "b": 0}
    ) == {"a": 1, "b": 0}


def test_options_are_copied() -> None:
    given = {"a": 1}
    requests.checked_options(given)["b"] = 2
    assert given == {"a": 1}


def test_tools_and_definitions_stand_in_one_list() -> None:
    made = requests.definitions([TOOL, FUNCTION], OpenAIShape())
    assert [item["function"]["name"] for item in made] == ["add", "add"]
    assert [item["name"] for item in requests.definitions([TOOL, FUNCTION], AnthropicShape())] == [
        "add",
        "add",
    ]


def test_a_definition_of_the_apis_own_stays_as_it_is() -> None:
    search = {"type": "web_search_20260209", "name": "web_search"}
    assert requests.definitions([search], AnthropicShape()) == [search]
    assert requests.definitions(None, AnthropicShape()) == []


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
VESPE = {
    "name": "add",
    "description": "Add.",
    "schema": {"input": SCHEMA},
    "implementation": {"type": "shell_command"},
}
SHAPED = {name: SHAPES[name].definition(replace(TOOL, input_schema=SCHEMA)) for name in SHAPES} | {
    "vespe": VESPE
}


@pytest.mark.parametrize("target", ["openai", "anthropic", "ollama"])
@pytest.mark.parametrize("given", SHAPED)
def test_a_definition_of_any_shape_goes_out_in_the_apis_own(given: str, target: str) -> None:
    (made,) = requests.definitions([SHAPED[given]], SHAPES[target])
    assert made == SHAPED[target]


def test_geminis_list_of_declarations_is_several_tools() -> None:
    declared = {"functionDeclarations": [SHAPED["gemini"], SHAPED["gemini"] | {"name": "sub"}]}
    assert [
        item["function"]["name"] for item in requests.definitions([declared], OpenAIShape())
    ] == ["add", "sub"]


def test_a_definition_that_cannot_be_read_is_refused_with_its_name() -> None:
    with pytest.raises(InvalidDocument, match="the tool 'add'"):
        requests.definitions([{"name": "add", "input_schema": "none"}], OpenAIShape())
    with pytest.raises(InvalidDocument, match="the tool 'add'"):
        requests.definitions([{"name": "add", "schema": {"input": 3}}], OpenAIShape())


def test_the_definitions_of_tools_that_stay_are_made_once_for_each_api() -> None:
    tools = ShownTools([TOOL])
    made = requests.definitions(tools, OpenAIShape())
    assert made == requests.definitions([TOOL], OpenAIShape())
    assert requests.definitions(tools, OpenAIShape()) is made
    assert requests.definitions(tools, AnthropicShape()) != made


@pytest.mark.parametrize(
    "rest", [{}, {"model": "m", "messages": [{"role": "user", "content": "Grüße \U0001f600"}]}]
)
def test_a_request_says_kept_definitions_as_it_says_others(rest: JsonObject) -> None:
    kept = requests.definitions(ShownTools([TOOL]), OpenAIShape())
    said = requests.encode({**rest, "tools": kept})
    assert json.loads(said) == json.loads(requests.encode({**rest, "tools": list(kept)}))
    assert requests.encode({**rest, "tools": kept}) == said


def test_where_the_vendor_runs_programs_each_tool_says_whether_they_may_call_it() -> None:
    shape, runner = SHAPES["openai-responses"], {"type": "programmatic_tool_calling"}
    gone = replace(TOOL, name="delete_all")
    made = requests.definitions([TOOL, runner, FUNCTION, gone], shape)
    assert [one.get("allowed_callers") for one in made] == [
        ["direct", "programmatic"],
        None,
        ["direct", "programmatic"],
        ["direct"],
    ]
    assert requests.definitions([TOOL], shape, beside=[runner]) == made[:1]
    assert "allowed_callers" not in str(requests.definitions([TOOL, FUNCTION], shape))
    own = replace(TOOL, document={"api_fields": {shape.name: {"allowed_callers": ["direct"]}}})
    assert requests.definitions([own, runner], shape)[0]["allowed_callers"] == ["direct"]
