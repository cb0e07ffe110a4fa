"""A request as 0.2 would have sent it; `tests/compatibility` replays what 0.2 recorded."""

from typing import Any

from vespe import AnthropicProvider
from vespe.calls.bridge import OWN
from vespe.features.agents import recordings_of_02

ASKED = [{"role": "user", "content": "Hi"}]


def sent(*tools: Any) -> dict[str, dict[str, Any]]:
    payload = AnthropicProvider("m").payload(ASKED, tools)
    return {tool["name"]: tool for tool in recordings_of_02.as_sent(payload)["tools"]}


def test_the_tools_of_the_bridge_have_the_words_that_0_2_had_for_them() -> None:
    tools = sent(*OWN.values())
    assert tools["search_tools"]["description"].endswith("call_tool calls what was found.")
    given = tools["search_tools"]["input_schema"]["properties"]
    assert given["limit"]["description"] == "How many to give."
    assert given["query"]["description"] == "What the tool should do, in a few words."
    name = tools["call_tool"]["input_schema"]["properties"]["name"]
    assert name["description"] == "The tool's name, as search_tools gives it."


def test_tools_of_a_project_stay_as_they_are() -> None:
    words = OWN["search_tools"].description
    schema = {"type": "object", "properties": {"a": {"description": words}}}
    mine = {"name": "mine", "description": words, "input_schema": schema}
    found = {"name": "search_tools", "description": "Mine, too.", "input_schema": schema}
    assert sent(mine, found) == sent(mine) | {"search_tools": sent(found)["search_tools"]}
    assert sent(mine)["mine"]["description"] == words
    assert sent(found)["search_tools"]["description"] == "Mine, too."
    assert recordings_of_02.as_sent({"messages": ASKED}) == {"messages": ASKED}
