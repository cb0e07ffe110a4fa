"""The tools that a model is shown."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.features.agents.agents_on_disk import NUMBER, Bench
from tests.support.mcp_servers import definition
from tests.support.ondisk import write_kit, write_tool
from vespe.adapters import SHAPES
from vespe.errors import InvalidDocument, KitNotFound, ToolNotFound, UsageError
from vespe.features.agents.providers.requests import definitions
from vespe.features.agents.tool_sets import chosen, kit_tools, tool_set
from vespe.kits import mcp_kits
from vespe.models import Tool
from vespe.projects.project import update_config
from vespe.projects.workspace import open_workspace


def test_tools_are_chosen_by_name_by_scope_or_all(bench: Bench) -> None:
    for name in ("a", "b"):
        bench.tool(name)
    workspace = bench.project().call_path().workspace
    assert (
        [tool.name for tool in chosen(workspace)]
        == ["a", "b"]
        == [tool.name for tool in chosen(workspace, kit="project_tools")]
    )
    assert [tool.name for tool in chosen(workspace, names=["b"])] == ["b"] and chosen(
        workspace, names=()
    ) == []
    with pytest.raises(KitNotFound):
        chosen(workspace, kit="no_such_kit")
    with pytest.raises(ToolNotFound):
        chosen(workspace, names=["c"])


def test_two_tools_of_one_name_are_refused() -> None:
    tool = Tool(uid="u", name="f", description="", input_schema=NUMBER)
    assert list(tool_set([tool, tool]).tools) == ["f"]
    with pytest.raises(UsageError, match="'f'"):
        tool_set([tool, replace(tool, description="another")])


def test_strict_mode_is_for_those_that_it_can_say() -> None:
    plain = Tool(uid="u", name="f", description="d", input_schema=NUMBER)
    loose = Tool(
        uid="v", name="g", description="d", input_schema={"type": "object", "properties": {"x": {}}}
    )
    made = tool_set([plain, loose], strict=True)
    assert made.strict == {"f"} and made.shown[1] is loose
    for api, place in (("openai", ("function",)), ("openai-responses", ()), ("anthropic", ())):
        (told, _) = definitions(made.shown, SHAPES[api])
        for key in place:
            told = told[key]
        assert told["strict"] is True and "null" not in str(told), api


def test_a_definition_that_asks_for_strict_mode_itself_is_in_it() -> None:
    plain = Tool(uid="u", name="f", description="", input_schema=NUMBER)
    own = replace(plain, document={"api_fields": {"openai": {"function": {"strict": True}}}})
    assert tool_set([own]).strict == {"f"} and tool_set([plain]).strict == frozenset()


def test_strict_mode_keeps_what_else_an_api_is_told() -> None:
    tool = Tool(
        uid="u",
        name="f",
        description="d",
        input_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
        output_schema={"type": "integer"},
        examples=({"input": {"n": 1}, "output": 1}, {"input": {}, "output": 0}),
        document={"api_fields": {"openai-responses": {"strict": False, "defer_loading": True}}},
    )
    made = tool_set([tool], strict=True)
    (told,) = definitions(made.shown, SHAPES["openai-responses"])
    assert told["strict"] is told["defer_loading"] is True
    assert told["output_schema"] == {"type": "integer"}
    assert told["parameters"]["required"] == ["n"]
    (told,) = definitions(made.shown, SHAPES["anthropic"])
    assert told["input_examples"] == [{"n": 1}] and told["strict"] is True


def test_the_tools_of_a_kit_whose_name_means_several_servers_are_nobodys(bench: Bench) -> None:
    made = [
        mcp_kits.draft("things", {"command": ["serve", word]}, [definition(word)], about={})
        for word in ("one", "two")
    ]
    mcp_kits.write(made[0])
    assert [tool.name for tool in kit_tools("things", project="")] == ["one"]
    mcp_kits.write(made[1])
    with pytest.raises(InvalidDocument, match="2 MCP servers have this name"):
        kit_tools("things", project="")


@pytest.mark.parametrize("later", [None, '{"allow_hosts": ["evil.example.com"]}'])
def test_a_tool_of_a_kit_is_held_to_the_limits_that_it_was_listed_by(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: str | None
) -> None:
    kit = write_kit(tmp_path / "kits", "web", allow_hosts=["api.example.com"])
    details = {"type": "http_request", "path": "https://api.example.com/x", "entrypoint": "GET"}
    write_tool(kit / "tool-a", "asks", implementation=details)
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    update_config(project, lambda document: document.update({"active_kits": ["web"]}))
    (tool,) = chosen(open_workspace(project))
    if later is None:
        (kit / "kit_config.json").unlink()
    else:
        (kit / "kit_config.json").write_text(later, encoding="utf-8")
    assert tool.allowed_hosts == ("api.example.com",)
