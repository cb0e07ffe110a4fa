"""How models are told of their tools."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.judges import accepts, complaint
from tests.features.agents.agents_on_disk import Bench
from tests.features.agents.providers.serving import asking, sent, stream
from vespe import Agent, AgentOptions, Toolset, tool
from vespe.adapters.anthropic import AnthropicShape
from vespe.adapters.large_results import reading
from vespe.adapters.modes import defer, mark, mode_of
from vespe.errors import UsageError
from vespe.features.mcp.server.selection import Selection
from vespe.features.mcp.server.tools import ServedTools
from vespe.models import Tool
from vespe.projects import project as projects
from vespe.projects.init import found_project
from vespe.projects.workspace import open_workspace

CASES = Path(__file__).resolve().parents[1] / "cases"
RECORDED = (
    "adapters/recorded/anthropic/anthropic-test-anthropic-native-tool-search-streaming-1.json"
)
TOOLS = [
    Tool(uid="", name=f"t{n}", description="x" * 40, input_schema={"type": "object"})
    for n in range(10)
]


@pytest.mark.parametrize(
    ("mode", "budget", "chosen"),
    [
        ("all", 1, "all"),
        ("bridge", None, "bridge"),
        ("auto", None, "all"),
        ("auto", 100_000, "all"),
        ("auto", 50, "bridge"),
    ],
)
def test_auto_is_all_until_the_definitions_cost_more_than_the_budget(
    mode: str, budget: int | None, chosen: str
) -> None:
    assert mode_of(mode, TOOLS, api="openai", budget=budget) == chosen


def test_what_is_not_a_mode_is_refused_and_native_where_an_api_has_no_search() -> None:
    with pytest.raises(UsageError, match="all, bridge"):
        mode_of("some", TOOLS, api="mcp", budget=None)
    for api in ("openai", "ollama", "gemini"):
        with pytest.raises(UsageError, match="does not search tools itself"):
            mode_of("native", TOOLS, api=api, budget=None)


def recorded() -> Any:
    return json.loads((CASES / RECORDED).read_text(encoding="utf-8"))["request"]


def plain(definition: Any) -> Tool:
    return AnthropicShape().read(
        {key: value for key, value in definition.items() if key != "defer_loading"}
    )


def test_definitions_are_those_of_a_recorded_request() -> None:
    *tools, _ = wanted = recorded()["tools"]
    assert defer(map(plain, tools), always=(), api="anthropic") == wanted


@pytest.mark.parametrize("api", ["anthropic", "openai-responses"])
def test_definitions_are_what_the_vendors_types_take(api: str) -> None:
    *tools, last = defer(TOOLS, always=("t0",), api=api)
    assert [one.get("defer_loading", False) for one in tools] == [False, *[True] * 9]
    assert accepts(f"{api} tool search", last), complaint(f"{api} tool search", last)
    for one in tools:
        assert accepts(f"{api} tool", one), complaint(f"{api} tool", one)


def test_where_every_tool_is_exposed_always_there_is_nothing_to_search() -> None:
    assert defer(TOOLS[:1], always=("t0",), api="anthropic") == [
        AnthropicShape().definition(TOOLS[0])
    ]


def test_clients_of_mcp_search_themselves_and_are_told_what_not_to_put_off() -> None:
    first, second = defer(TOOLS[:2], always=("t0",), api="mcp")
    assert first["_meta"] == {"anthropic/alwaysLoad": True} and "_meta" not in second
    assert mark({"_meta": {"a": 1}}, always=True)["_meta"] == {
        "a": 1,
        "anthropic/alwaysLoad": True,
    }


@pytest.fixture
def bench(home: Path, tmp_path: Path) -> Bench:
    """A project with the tools of the recorded request."""
    found_project(tmp_path)
    made = Bench(tmp_path)
    for one in recorded()["tools"][:-1]:
        made.tool(
            one["name"],
            lambda **_: "0.92",
            schema=one["input_schema"],
            description=one["description"],
        )
    return made


def test_an_agent_has_the_api_search_and_goes_on_as_the_recorded_conversation_did(
    bench: Bench,
) -> None:
    done = (
        b"event: message_start\ndata: "
        b'{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{}}}\n\n'
    )
    done += (
        b"event: message_delta\ndata: "
        b'{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}\n\n'
    )
    done += b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    bodies = [(CASES / "tool_search/anthropic.sse").read_bytes(), done]
    with asking(lambda exchange: stream(bodies.pop(0))(exchange), "anthropic") as (
        provider,
        server,
    ):
        options = AgentOptions(approve="all", tools_mode="native")
        result = Agent(provider, bench.project(), options=options).run(
            "What is the current USD to EUR exchange rate?"
        )
        body = sent(server)[2]
    assert bench.ran == ["get_exchange_rate"] and [one.outcome.ok for one in result.calls] == [True]
    assert body["tools"] == [*recorded()["tools"], AnthropicShape().definition(reading.TOOL)]
    said, wanted = body["messages"][1]["content"], recorded()["messages"][1]["content"]
    assert [block["type"] for block in said] == [block["type"] for block in wanted]
    assert [block for block in said if "tool_search" in json.dumps(block)] == [
        block for block in wanted if "tool_search" in json.dumps(block)
    ]
    for message in body["messages"]:
        assert accepts("anthropic message", message), complaint("anthropic message", message)


def test_a_program_with_a_client_of_its_own_and_an_export_have_the_same(
    bench: Bench, command: Callable[..., Any]
) -> None:
    projects.update_config(
        bench.root,
        lambda document: document.update({"tools": {"stock_lookup": {"expose": "always"}}}),
    )
    tools = Toolset(bench.project())
    for made in (
        tools.anthropic(native=True),
        command("export", "--as", "anthropic", "--native", "--project", str(bench.root)).document,
    ):
        assert [one["name"] for one in made if one.get("defer_loading")] == [
            "get_exchange_rate"
        ] and len(made) == 3
    assert tools.responses(native=True)[-1] == {"type": "tool_search"}
    assert command("export", "--as", "ollama", "--native", "--project", str(bench.root)).code == 2


def test_a_server_marks_what_is_exposed_always_and_says_when_that_changes(bench: Bench) -> None:
    def say(expose: str) -> None:
        projects.update_config(
            bench.root,
            lambda document: document.update({"tools": {"stock_lookup": {"expose": expose}}}),
        )

    say("always")
    with ServedTools(
        open_workspace(bench.root), registry=bench.registry, selection=Selection(mode="native")
    ) as served:
        told = served.page("2025-11-25", None)["tools"]
        assert [one["name"] for one in told] == [
            "get_exchange_rate",
            "read_result",
            "stock_lookup",
        ]
        marked = [one["name"] for one in told if "_meta" in one]
        assert marked == ["read_result", "stock_lookup"]
        say("search")
        assert served.refresh()
        told = served.page("2025-11-25", None)["tools"]
        assert [one["name"] for one in told if "_meta" in one] == ["read_result"]


MANY = [
    Tool(uid="", name=f"t{n}", description="x", input_schema={"type": "object"}) for n in range(129)
]


@pytest.mark.parametrize(
    ("api", "count", "chosen"),
    [
        ("openai", 128, "all"),
        ("openai", 129, "bridge"),
        ("openai-responses", 129, "bridge"),
        ("anthropic", 129, "all"),
        ("mcp", 129, "all"),
    ],
)
def test_auto_shows_no_more_tools_than_the_api_takes(api: str, count: int, chosen: str) -> None:
    assert mode_of("auto", MANY[:count], api=api, budget=None) == chosen


def test_more_tools_than_the_api_takes_are_refused_before_anything_is_sent(home: Path) -> None:
    tools = Toolset(*(_function(f"t{n}") for n in range(129)))
    with asking(stream(b"")) as (provider, server):
        with pytest.raises(UsageError, match=r"129 tools are more than .* takes: 128") as refused:
            Agent(provider, tools=tools, options=AgentOptions(tools_mode="all"))
        assert not server.requests and "--tools-mode auto" in refused.value.hint
        shown = Agent(provider, tools=tools, options=AgentOptions(tools_mode="auto"))
        assert len(shown.tools) == 129 and not server.requests


def _function(name: str) -> Any:
    def run() -> str:
        """Do it."""
        return name

    return tool(name=name)(run)
