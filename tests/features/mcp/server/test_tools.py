"""The tools that a project serves, as they are on disk when a client asks."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_tool
from vespe import ToolRegistry, errors
from vespe.calls import log, policy_answers
from vespe.features.mcp.server.call_client import CallClient
from vespe.features.mcp.server.selection import Selection
from vespe.features.mcp.server.served_client import ServedClient
from vespe.features.mcp.server.tool_results import result_of
from vespe.features.mcp.server.tools import ServedTools
from vespe.models import JsonObject
from vespe.projects import user_config, watched_tools
from vespe.projects.init import found_project
from vespe.projects.workspace import open_workspace
from vespe.trust import gate

REVISION = "2025-11-25"


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    found_project(tmp_path)
    write_tool(tmp_path / ".vespe/tools/tool-add", "add", description="Add.")
    return tmp_path


@pytest.fixture(params=["looked at", "told at once"])
def tools(
    root: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> ServedTools:
    """Serve few tools, and serve them in the way that very many are served."""
    if request.param == "told at once":
        monkeypatch.setattr(watched_tools, "_WORTH", 1)
    registry = ToolRegistry()
    registry.register(lambda: {"secret": "here"}, name="add")
    return ServedTools(open_workspace(root), registry=registry)


def names(tools: ServedTools) -> list[str]:
    """The names of the project's tools that are listed."""
    listed = [tool["name"] for tool in tools.page(REVISION, None)["tools"]]
    return [name for name in listed if name != "read_result"]


def call(tools: ServedTools, name: str) -> Any:
    return tools.call(name, {}, cancel=None, progress=None)[0]


def test_p43_a_hundred_lists_are_the_same_bytes(tools: ServedTools) -> None:
    assert len({tools.page(REVISION, None).text for _ in range(100)}) == 1 and tools.version == 0


def test_a_list_is_never_older_than_the_question(tools: ServedTools, root: Path) -> None:
    python_tool(root / ".vespe/tools/tool-more", "more", "return 1")
    assert names(tools) == ["add", "more"] and tools.version == 1
    (root / ".vespe/tools/tool-more/main.py").unlink()
    assert names(tools) == ["add"] and "main.py" in tools.left_out[0]


def test_a_call_is_of_the_tool_as_it_is_now(tools: ServedTools, root: Path) -> None:
    assert call(tools, "add").result == {"secret": "here"}
    config = root / ".vespe/tools/tool-add/config.json"
    config.write_text(
        config.read_text(encoding="utf-8").replace(
            '"properties": {}', '"properties": {}, "required": ["a"]'
        ),
        encoding="utf-8",
    )
    assert call(tools, "add").error.code == "invalid_arguments"


def test_p2_trust_that_is_taken_back_takes_the_tools_along_and_gives_them_back(
    tools: ServedTools, root: Path
) -> None:
    gate.untrust(root)
    with pytest.raises(errors.NotTrusted):
        call(tools, "add")
    assert names(tools) == []
    gate.trust_place(root)
    assert names(tools) == ["add"] and call(tools, "add").ok


def test_p1_nothing_of_an_untrusted_project_is_served(root: Path) -> None:
    gate.untrust(root)
    with pytest.raises(errors.NotTrusted):
        ServedTools(open_workspace(root))
    assert ServedTools(open_workspace(root), trusted=True).names == ()


def test_a_configuration_that_breaks_shows_nothing_until_it_is_mended(
    tools: ServedTools, root: Path
) -> None:
    config = root / ".vespe/config.json"
    whole = config.read_text(encoding="utf-8")
    config.write_text("{", encoding="utf-8")
    assert names(tools) == []
    with pytest.raises(errors.InvalidDocument):
        call(tools, "add")
    config.write_text(whole, encoding="utf-8")
    assert names(tools) == ["add"]


def test_a_project_that_is_gone_is_never_taken_for_the_one_above_it(
    home: Path, tmp_path: Path
) -> None:
    found_project(tmp_path)
    (tmp_path / "inner").mkdir()
    inner = found_project(tmp_path / "inner").root
    tools = ServedTools(open_workspace(inner))
    Path(inner, ".vespe").rename(tmp_path / "gone")
    python_tool(tmp_path / ".vespe/tools/tool-outer", "outer", "return 1")
    assert names(tools) == []


def test_p36_a_secret_is_redacted_from_what_a_client_gets(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "s3cr3t-value")
    python_tool(
        root / ".vespe/tools/tool-leak",
        "leak",
        "import os\nreturn os.environ['API_TOKEN']",
        secrets=["API_TOKEN"],
    )
    assert call(ServedTools(open_workspace(root)), "leak").result == "***"


def test_every_call_is_logged(tools: ServedTools, root: Path) -> None:
    for _ in range(3):
        call(tools, "add")
    assert [line["outcome"] for line in log.read(str(root))] == ["ok"] * 3


def test_an_unknown_tool_is_not_found_however_it_is_called(tools: ServedTools) -> None:
    for name in ("nope", "tool-add", "project_tools/add", "", "add " * 1000):
        with pytest.raises(errors.ToolNotFound):
            call(tools, name)


def test_b3_what_is_denied_is_neither_listed_nor_called_until_the_rule_is_taken_back(
    tools: ServedTools,
) -> None:
    user_config.set_value("approvals.deny", ["add"])
    with pytest.raises(errors.ToolNotFound):
        call(tools, "add")
    assert names(tools) == [] and tools.left_out == (
        "add is left out: the configuration denies this call of 'add'",
    )
    user_config.unset_value("approvals.deny")
    assert names(tools) == ["add"] and call(tools, "add").ok


def test_b3_denied_arguments_are_refused_in_words_and_others_run(root: Path) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string", "default": "x.env"}}}
    python_tool(root / ".vespe/tools/tool-put", "put", "return path", params="path", schema=schema)
    user_config.set_value("approvals.deny", [{"tool": "put", "arguments": {"path": "*.env"}}])
    with ServedTools(open_workspace(root)) as tools:
        assert names(tools) == ["put"]
        given: list[JsonObject] = [{"path": "a.env"}, {}, {"path": "a.txt"}, {"path": 1}]
        results = [
            tools.call("put", arguments, cancel=None, progress=None)[0] for arguments in given
        ]
    assert [outcome.error.code if outcome.error else outcome.result for outcome in results] == [
        "refused",
        "refused",
        "a.txt",
        "invalid_arguments",
    ]


@pytest.mark.parametrize(("ask", "shown"), [("deny", []), ("allow", ["add"])])
def test_b3_what_a_rule_asks_for_is_denied_unless_whoever_serves_allows_it(
    root: Path, ask: str, shown: list[str]
) -> None:
    registry = ToolRegistry()
    registry.register(lambda: 1, name="add")
    user_config.set_value("approvals.ask", ["add"])
    assert (
        names(ServedTools(open_workspace(root), registry=registry, selection=Selection(ask=ask)))
        == shown
    )


def test_b3_a_persons_never_holds_for_clients_too(tools: ServedTools, root: Path) -> None:
    policy_answers.keep(
        str(root), policy_answers.KeptAnswer(tool="project_tools/add", allowed=False)
    )
    assert names(tools) == []
    policy_answers.forget(str(root))
    assert names(tools) == ["add"]


def test_after_what_strangers_wrote_calls_that_send_are_denied_and_the_list_stays(
    root: Path,
) -> None:
    write_tool(
        root / ".vespe/tools/tool-fetch",
        "fetch",
        annotations={"readOnlyHint": True, "openWorldHint": True},
    )
    write_tool(root / ".vespe/tools/tool-send", "send", permissions={"network": ["x.org"]})
    registry = ToolRegistry()
    for name in ("fetch", "send", "add"):
        registry.register(lambda: "done", name=name)
    user_config.set_value("approvals.flow", "ask")
    with ServedTools(open_workspace(root), registry=registry) as tools:
        before = names(tools)
        assert (
            call(tools, "send").ok
            and call(tools, "fetch").ok
            and not call(tools, "send").ok
            and call(tools, "add").ok
        )
        python_tool(root / ".vespe/tools/tool-more", "more", "return 1")
        assert names(tools) == sorted([*before, "more"]) and not call(tools, "send").ok


WHOLE = {"body": "line\n" * 20_000, "ids": list(range(5000))}


def asked(tools: ServedTools, client: ServedClient, name: str, **arguments: Any) -> Any:
    called = tools.call(name, arguments, cancel=None, progress=None, by=CallClient(client))
    return result_of(called, "2026-07-28", client=client)


@pytest.fixture
def large(root: Path) -> ServedTools:
    schema: JsonObject = {
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 200_000}},
        "required": ["text"],
    }
    write_tool(root / ".vespe/tools/tool-fetch", "fetch")
    write_tool(root / ".vespe/tools/tool-length", "length", schema=schema)
    registry = ToolRegistry()
    registry.register(lambda: WHOLE, name="fetch")
    registry.register(lambda text: len(text), name="length")
    return ServedTools(open_workspace(root), registry=registry)


def test_read_result_is_listed_beside_tools_and_reads_what_was_shown_in_part(
    large: ServedTools,
) -> None:
    (entry,) = [
        tool for tool in large.page(REVISION, None)["tools"] if tool["name"] == "read_result"
    ]
    assert entry["annotations"]["readOnlyHint"] is True and "read_result" not in large.names
    client, offset, pieces = ServedClient(), 0, []
    assert "its handle is r1" in asked(large, client, "fetch")["content"][0]["text"]
    following: Any = {"handle": "r1", "pointer": "/body", "offset": offset}
    while following is not None:
        read = asked(large, client, "read_result", **following)
        assert len(read["content"][0]["text"]) <= 40_000
        pieces.append(read["structuredContent"]["text"])
        following = read["structuredContent"]["next"]
    assert "".join(pieces) == WHOLE["body"] and len(pieces) > 2


def test_p79_a_reference_is_resolved_before_the_schema_and_the_rules_look_at_it(
    large: ServedTools,
) -> None:
    client = ServedClient()
    asked(large, client, "fetch")
    given: Any = {"$result": "r1", "pointer": "/body"}
    passed = asked(large, client, "length", text=given)
    assert passed["content"][0]["text"] == "100000"
    assert "text is r1 at /body: 100,000 characters" in passed["_meta"]["vespe/notes"][0]
    user_config.set_value("approvals.deny", [{"tool": "length", "arguments": {"text": "line*"}}])
    denied = asked(large, client, "length", text=given)
    assert denied["isError"] and "denies" in denied["content"][0]["text"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"$result": "r9"}, "has no such handle (it has r1"),
        ({"$result": "r1", "pointer": "/nothing"}, "has nothing at '/nothing'"),
        ({"$result": "r1", "pointer": "/ids"}, "must be a string"),
        ({"$result": 1}, "is not of the form"),
        ({"$result": "r1", "path": "/body"}, "is not of the form"),
        ([{"$result": "r1"}], "is inside the argument"),
    ],
)
def test_p79_a_wrong_reference_is_told_to_the_model_and_nothing_runs(
    given: Any, why: str, large: ServedTools
) -> None:
    client = ServedClient()
    asked(large, client, "fetch")
    result = asked(large, client, "length", text=given)
    assert result["isError"] and why in result["content"][0]["text"], result


def test_p82_a_reference_of_another_client_is_none(large: ServedTools) -> None:
    asked(large, ServedClient(), "fetch")
    result = asked(large, ServedClient(), "length", text={"$result": "r1"})
    assert "no result was too large so far" in result["content"][0]["text"]


def test_a_projects_own_read_result_is_the_projects(root: Path) -> None:
    write_tool(root / ".vespe/tools/tool-mine", "read_result", description="Mine.")
    registry = ToolRegistry()
    registry.register(lambda: "mine", name="read_result")
    tools = ServedTools(open_workspace(root), registry=registry)
    listed = [tool["name"] for tool in tools.page(REVISION, None)["tools"]]
    assert listed.count("read_result") == 1 and call(tools, "read_result").result == "mine"


def test_bounded_results_have_no_output_schema_and_no_whole_structure(root: Path) -> None:
    output = {"type": "object", "properties": {"body": {"type": "string"}}}
    config = write_tool(root / ".vespe/tools/tool-fetch", "fetch") / "config.json"
    document = json.loads(config.read_text(encoding="utf-8"))
    document["schema"]["output"] = output
    config.write_text(json.dumps(document), encoding="utf-8")
    registry = ToolRegistry()
    registry.register(lambda: WHOLE, name="fetch")
    for results, whole in (("whole", True), ("bounded", False)):
        selection = Selection(names=("fetch",), results=results)
        tools = ServedTools(open_workspace(root), registry=registry, selection=selection)
        entry = tools.page(REVISION, None)["tools"][0]
        assert ("outputSchema" in entry) is whole
        result = asked(tools, ServedClient(), "fetch")
        assert (result.get("structuredContent") == WHOLE) is whole
        assert len(result["content"][0]["text"]) <= 40_000
