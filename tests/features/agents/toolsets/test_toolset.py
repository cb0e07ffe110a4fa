"""Functions, projects and kits in one set: shown to every vendor's client, and its calls
answered.
"""

import asyncio
import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic.types
import ollama
import openai.types.chat
import pytest

import vespe
from tests.adapters.judges import accepts, complaint
from vespe import (
    Agent,
    Call,
    KitNotFound,
    NotTrusted,
    Project,
    Question,
    SimulatedProvider,
    ToolNotFound,
    Toolset,
    UsageError,
    tool,
)
from vespe import Answer as Said
from vespe.calls import log
from vespe.projects.project import set_active, update_config


@tool(read_only=True)
async def search(query: str, limit: int = 5) -> list[str]:
    """Search the notes."""
    return [query] * limit


def double(n: int) -> int:
    """Double a number."""
    return 2 * n


@pytest.fixture
def made(home: Path, tmp_path: Path) -> Project:
    project = Project.init(tmp_path / "mine")
    project.create_tool("count", type="python_script")
    return project


def chat(*calls: tuple[str, Any], **fields: Any) -> dict[str, Any]:
    made = [
        {
            "id": f"c{n}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for n, (name, given) in enumerate(calls)
    ]
    return {
        "choices": [
            {"message": {"role": "assistant", "content": None, "tool_calls": made}, **fields}
        ]
    }


def told(answer: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in answer[1:]]


def test_functions_a_project_and_a_kit_are_one_set(made: Project) -> None:
    tools = Toolset(search, double, made, "file_io_without_git")
    assert (
        list(tools.tools)[:3] == ["search", "double", "count"]
        and "read_file" in tools
        and len(tools) == 8
    )
    assert tools.call("search", query="x", limit=1).unwrap() == ["x"]
    assert tools.call("count", text="a b").unwrap()["words"] == 2
    assert repr(tools).startswith("<Toolset of search, double, count")


def test_what_is_given_twice_is_one_tool_and_what_only_has_its_name_is_not(
    home: Path, made: Project
) -> None:
    made.register(search)
    set_active(made.root, ["file_io_without_git"])
    tools = Toolset(made, "file_io_without_git", search, double, double)
    assert list(tools.tools).count("read_file") == 1 and tools.call("double", n=4).unwrap() == 8
    made.create_tool("read_file", type="python_script")
    with pytest.raises(
        UsageError,
        match=r"two tools are called 'read_file'.*: project_tools's in .*, "
        r"and file_io_without_git's in",
    ):
        Toolset(made, "file_io_without_git")


def test_no_project_is_needed(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    tools = Toolset(double, "file_io_without_git")
    assert tools.call("double", n=4).unwrap() == 8
    assert "hello" in str(tools.call("read_file", path="a.txt").unwrap())
    assert not (tmp_path / ".vespe").exists()


def test_two_of_one_name_an_unknown_kit_and_what_is_no_tool_are_refused(made: Project) -> None:
    def double(n: str) -> str:
        return n + n

    with pytest.raises(
        UsageError,
        match=r"two tools are called 'double'.*: a function of the program, and a function",
    ) as refused:
        Toolset(globals()["double"], double)
    assert "@tool(name=" in str(refused.value.hint)
    with pytest.raises(KitNotFound, match="file_io"):
        Toolset("file_io_with_gti")
    with pytest.raises(UsageError, match="not of int"):
        Toolset(3)  # type: ignore[arg-type]  # the wrong argument is the point
    with pytest.raises(ToolNotFound, match="serch"):
        Toolset(search).call("serch")


def test_a_kit_is_named_by_its_directory_too(home: Path) -> None:
    kits = Path(vespe.__file__).parents[1] / "kits"
    assert "read_file" in Toolset(kits / "file_io_without_git")
    with pytest.raises(UsageError, match=r"no kit_config\.json"):
        Toolset(kits)


def test_every_client_gets_what_it_takes(home: Path) -> None:
    tools = Toolset(search)
    assert tools.openai()[0]["function"]["parameters"]["properties"]["limit"]["default"] == 5
    assert (
        tools.anthropic()[0]["input_schema"]
        == tools.mcp()[0]["inputSchema"]
        == tools.ollama()[0]["function"]["parameters"]
    )
    assert tools.gemini()[0]["functionDeclarations"][0]["name"] == "search"
    assert tools.gemini_interactions()[0]["parameters"] == tools.responses()[0]["parameters"]
    assert tools.responses()[0] | {"strict": False} == tools.responses()[0]
    assert ollama.Tool.model_validate(tools.ollama()[0]).function is not None


def test_strict_mode_is_said_where_it_can_be_and_its_nulls_are_taken_out_again(home: Path) -> None:
    tools = Toolset(search)
    strict = tools.responses(strict=True)[0]
    assert strict["strict"] is True and strict["parameters"]["required"] == ["query", "limit"]
    assert tools.openai(strict=True)[0]["function"]["strict"] is True
    assert told(tools.answer(chat(("search", {"query": "x", "limit": None})))) == [
        '["x","x","x","x","x"]'
    ]


def test_an_answer_has_the_models_turn_and_every_result_in_the_order_of_the_calls(
    home: Path,
) -> None:
    response = chat(
        ("double", {"n": 2}),
        ("search", {"query": "x", "limit": 1}),
        ("nothing", {}),
        ("double", "{"),
    )
    answer = Toolset(search, double).answer(response)
    assert answer[0] == response["choices"][0]["message"] and not answer.done
    assert (
        told(answer)[:2] == ["4", '["x"]']
        and "no tool called 'nothing'" in told(answer)[2]
        and "cannot be read" in told(answer)[3]
    )
    assert [result.outcome.ok for result in answer.results] == [True, True, False, False]
    assert [message["tool_call_id"] for message in answer[1:]] == ["c0", "c1", "c2", "c3"]


def test_an_answer_is_the_same_from_an_event_loop(home: Path) -> None:
    tools = Toolset(search, double)
    response = chat(
        ("double", {"n": 2}),
        ("search", {"query": "x"}),
        ("search", {"query": "y"}),
        ("nothing", {}),
        ("double", {"n": 3}),
    )
    assert asyncio.run(tools.aanswer(response)) == tools.answer(response)


def test_without_calls_the_model_is_done(home: Path) -> None:
    message = {"role": "assistant", "content": "hi"}
    answer = Toolset(double).answer({"choices": [{"message": message}]})
    assert answer.done and answer == [message]


def test_a_call_that_may_not_have_come_whole_does_not_run(home: Path) -> None:
    ran: list[int] = []

    def note(n: int) -> None:
        ran.append(n)

    tools = Toolset(note)
    response = chat(("note", {"n": 1}), ("note", {"n": 2}), finish_reason="length")
    assert "cut off" in told(tools.answer(response))[1] and ran == [1]
    assert "cut off" in told(asyncio.run(tools.aanswer(response)))[1] and ran == [1, 1]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_projects_tool_needs_a_word_and_a_function_of_the_program_does_not(
    made: Project, is_async: bool
) -> None:
    def answered(tools: Toolset) -> str:
        response = chat(("count", {"text": "a"}))
        return told(asyncio.run(tools.aanswer(response)) if is_async else tools.answer(response))[0]

    asked: list[Question] = []

    def ask(question: Question) -> Said:
        asked.append(question)
        return Said(allowed=True)

    assert "need the user's approval" in answered(Toolset(made))
    assert '"words":1' in answered(Toolset(made, approve="all")) and '"words":1' in answered(
        Toolset(made, ask=ask)
    )
    assert [question.tool.name for question in asked] == ["count"]
    assert "no calls are allowed" in answered(Toolset(made, approve="none"))


def test_what_the_project_denies_is_denied_to_a_model_whatever_is_approved(made: Project) -> None:
    config = Path(made.root) / ".vespe/config.json"
    config.write_text(
        json.dumps(
            json.loads(config.read_text(encoding="utf-8"))
            | {"approvals": {"deny": ["count", "double"]}}
        ),
        encoding="utf-8",
    )
    tools = Toolset(double, Project(made.root), approve="all")
    assert [
        "denies this call" in text
        for text in told(tools.answer(chat(("count", {}), ("double", {"n": 1}))))
    ] == [True, True]


def test_a_call_of_the_program_itself_needs_no_approval_and_no_rule_denies_it(
    made: Project,
) -> None:
    update_config(made.root, lambda document: document.update(approvals={"deny": ["count"]}))
    tools = Toolset(Project(made.root))
    assert tools.call("count", text="a b").unwrap()["words"] == 2
    assert "denies this call" in told(tools.answer(chat(("count", {}))))[0]


def test_threads_share_a_set_and_its_project(made: Project) -> None:
    project = Project(made.root)
    tools = Toolset(double, project)
    project.register(double)

    def work(n: int) -> list[Any]:
        answer = tools.answer(chat(("double", {"n": n})))
        return [
            tools.call("double", n=n).unwrap(),
            json.loads(told(answer)[0]),
            project.execute_tool("double", {"n": n}).unwrap(),
        ]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(40))) == [[2 * n] * 3 for n in range(40)]
    assert len(log.read(made.root, limit=1000)) == 120


def test_calls_are_logged_and_limited_as_all_are(made: Project) -> None:
    tools = Toolset(double, made)
    tools.call("double", n=1)
    tools.call("double", n="x")
    assert [line["outcome"] for line in log.read(made.root)] == ["ok", "invalid_arguments"]


def test_a_function_runs_in_a_project_that_is_not_trusted_and_its_tools_do_not(
    made: Project, tmp_path: Path
) -> None:
    shutil.copytree(made.root, tmp_path / "copy")
    tools = Toolset(double, Project(tmp_path / "copy"), approve="all")
    assert tools.call("double", n=1).unwrap() == 2
    assert "trust" in told(tools.answer(chat(("count", {}))))[0]


def test_an_async_function_runs_in_the_callers_loop_and_ends_with_the_task(home: Path) -> None:
    seen: dict[str, Any] = {}

    async def wait() -> None:
        seen["loop"] = asyncio.get_running_loop()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen["ended"] = True
            raise

    async def main() -> None:
        task = asyncio.create_task(Toolset(wait).acall("wait"))
        while "loop" not in seen:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == {"loop": asyncio.get_running_loop(), "ended": True}

    asyncio.run(main())


def test_only_read_only_calls_run_at_the_same_time(home: Path) -> None:
    running, most = 0, {"read": 0, "write": 0}

    async def work(kind: str) -> None:
        nonlocal running
        running += 1
        most[kind] = max(most[kind], running)
        await asyncio.sleep(0.01)
        running -= 1

    async def write() -> None:
        await work("write")

    @tool(read_only=True)
    async def read() -> None:
        await work("read")

    tools = Toolset(read, write)
    asyncio.run(
        tools.aanswer(chat(("read", {}), ("read", {}), ("write", {}), ("write", {}), ("read", {})))
    )
    assert most == {"read": 2, "write": 1}


def test_the_objects_of_the_vendors_own_clients_are_read(home: Path) -> None:
    tools = Toolset(double)
    completion = openai.types.chat.ChatCompletion.model_validate(
        chat(("double", {"n": 2}), index=0, finish_reason="tool_calls")
        | {"id": "1", "created": 1, "model": "m", "object": "chat.completion"}
    )
    assert (
        told(tools.answer(completion)) == ["4"] == told(tools.answer(completion.choices[0].message))
    )
    message = anthropic.types.Message.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "tool_use", "id": "t", "name": "double", "input": {"n": 3}}],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    assert tools.answer(message)[1]["content"][0] == {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": "6",
    }
    local = ollama.ChatResponse.model_validate(
        {
            "model": "m",
            "message": {
                "role": "assistant",
                "tool_calls": [{"function": {"name": "double", "arguments": {"n": 4}}}],
            },
        }
    )
    assert tools.answer(local)[1] == {"role": "tool", "content": "8", "tool_name": "double"}


def test_a_set_runs_the_calls_of_others_with_a_cancel(home: Path) -> None:
    tools, cancel = Toolset(double), threading.Event()
    assert (
        tools.run_tool(
            tools["double"], Call(tool="double", arguments={"n": 1}), cancel=cancel
        ).unwrap()
        == 2
    )
    assert tools.run_call("double", '{"n": 5}').outcome.unwrap() == 10


def test_a_set_of_sets_is_a_set_and_closing_one_twice_is_harmless(made: Project) -> None:
    with Toolset(Toolset(double), made) as tools:
        assert list(tools.tools) == ["double", "count"] and tools.call("double", n=1).ok
    tools.close()


def test_an_agent_takes_a_set_and_runs_its_functions_in_the_callers_loop(home: Path) -> None:
    loops: list[object] = []

    async def here() -> str:
        loops.append(asyncio.get_running_loop())
        return "here"

    async def main() -> None:
        script = {"turns": [{"tool_calls": [{"name": "here", "arguments": {}}]}, {"text": "Done."}]}
        result = await Agent(SimulatedProvider(script), tools=Toolset(here)).arun("Where?")
        assert (result.text, result.calls[0].outcome.result) == ("Done.", "here") and loops == [
            asyncio.get_running_loop()
        ]

    asyncio.run(main())


def test_nothing_is_sent_for_the_tools_of_a_project_that_is_not_trusted(
    made: Project, tmp_path: Path
) -> None:
    shutil.copytree(made.root, tmp_path / "copy")
    provider = SimulatedProvider({"turns": [{"text": "Hello."}]})
    with pytest.raises(NotTrusted):
        Agent(provider, tools=Toolset(Project(tmp_path / "copy"))).run("Hi")
    assert Agent(provider, tools=Toolset(double)).run("Hi").text == "Hello."


BRIDGE = ["search_tools", "describe_tool", "call_tool"]
THROUGH = [
    ("search_tools", {"query": "double a number", "limit": 1}),
    ("describe_tool", {"name": "count"}),
    ("call_tool", {"name": "double", "arguments": {"n": 21}}),
    ("call_tool", {"name": "count", "arguments": {"text": "a"}}),
    ("call_tool", {"name": "none"}),
]


def test_a_bridge_in_the_place_of_the_tools_is_declared_and_answered(made: Project) -> None:
    tools = Toolset(double, made, tools_mode="bridge", ask=lambda _: Said(allowed=False))
    assert (
        [one["function"]["name"] for one in tools.openai()]
        == [one["name"] for one in tools.anthropic()]
        == BRIDGE
    )
    for answer in (tools.answer(chat(*THROUGH)), asyncio.run(tools.aanswer(chat(*THROUGH)))):
        found, described, doubled, denied, unknown = told(answer)
        assert (
            json.loads(found)["tools"][0]["name"] == "double"
            and json.loads(described)["name"] == "count"
        )
        assert (
            doubled == "42"
            and "continue without it" in denied
            and "no tool called 'none'" in unknown
        )
        assert [one.call.name for one in answer.results] == [
            "search_tools",
            "describe_tool",
            "double",
            "count",
            "none",
        ]


def test_a_vendor_that_knows_results_by_name_is_told_the_name_that_the_model_called(
    home: Path,
) -> None:
    tools = Toolset(double, tools_mode="bridge")
    parts = [
        {"functionCall": {"name": "call_tool", "args": {"name": "double", "arguments": {"n": 2}}}}
    ]
    (part,) = tools.answer({"candidates": [{"content": {"parts": parts}}]})[1]["parts"]
    assert part["functionResponse"]["name"] == "call_tool" and "4" in json.dumps(part)
    calls = [
        {"function": {"name": "call_tool", "arguments": {"name": "double", "arguments": {"n": 2}}}}
    ]
    assert (
        tools.answer({"message": {"role": "assistant", "tool_calls": calls}})[1]["tool_name"]
        == "call_tool"
    )


def test_a_bridge_stands_beside_what_a_project_exposes_always_and_auto_asks_its_budget(
    made: Project,
) -> None:
    update_config(
        str(made.root),
        lambda document: document.update(
            {"tools": {"count": {"expose": "always"}}, "tool_budget": 1}
        ),
    )
    mode: Any
    for mode, names in (
        ("bridge", ["count", *BRIDGE]),
        ("auto", ["count", *BRIDGE]),
        ("all", ["double", "count"]),
    ):
        assert list(Toolset(double, Project(made.root), tools_mode=mode).declared) == names
    for mode in ("some", "native"):
        with pytest.raises(UsageError):
            Toolset(double, tools_mode=mode)


def test_anthropic_is_told_by_reference_what_the_sets_own_search_found(made: Project) -> None:
    update_config(
        str(made.root), lambda document: document.update({"tools": {"count": {"expose": "always"}}})
    )
    tools = Toolset(double, Project(made.root), tools_mode="bridge")
    shown = {one["name"]: one for one in tools.anthropic(native=True)}
    assert list(shown) == ["double", "count", "search_tools"] and [
        name for name in shown if "defer_loading" in shown[name]
    ] == ["double"]

    def message(query: str) -> Any:
        return tools.answer(
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "1",
                        "name": "search_tools",
                        "input": {"query": query},
                    }
                ],
            }
        )[1]

    (block,) = message("double a number")["content"]
    assert block["content"] == [{"type": "tool_reference", "tool_name": "double"}]
    assert accepts("anthropic message", message("double a number")), complaint(
        "anthropic message", message("double a number")
    )
    for nothing in ("zebra", "count words"):
        assert isinstance(message(nothing)["content"][0]["content"], str)


def test_programs_that_the_vendor_runs_call_what_destroys_nothing_and_strangers_call_nothing(
    home: Path,
) -> None:
    def delete_notes(n: int) -> int:
        """Delete notes."""
        return n

    tools = Toolset(double, delete_notes)
    declared = tools.responses(programs=True)
    assert [one.get("allowed_callers") for one in declared] == [
        ["direct", "programmatic"],
        ["direct"],
        None,
    ]
    assert all(accepts("openai-responses tool", one) for one in declared[:-1])
    by = {"type": "program", "caller_id": "p"}
    program = {"type": "program", "id": "i", "call_id": "p", "code": "", "fingerprint": "f"}

    def call(name: str, call_id: str, **fields: Any) -> dict[str, Any]:
        made = {"type": "function_call", "call_id": call_id, "name": name, "arguments": '{"n":2}'}
        return made | fields

    answer = tools.answer(
        {"output": [program, call("double", "a", caller=by), call("delete_notes", "b", caller=by)]}
    )
    assert [one.get("caller") for one in answer] == [None, by, by, by, by]
    assert answer[3]["output"] == "4"
    assert "programs may not call 'delete_notes'" in answer[4]["output"]
    for item in answer:
        assert accepts("openai-responses item", item)
    stranger = {"type": "program", "caller_id": "q"}
    later = asyncio.run(
        tools.aanswer({"output": [call("double", "c", caller=by), call("double", "d")]})
    )
    assert [one.outcome.result for one in later.results] == [4, 4]
    assert "caller" not in later[-1]
    forged = asyncio.run(tools.aanswer({"output": [call("double", "e", caller=stranger)]}))
    assert "is not in this conversation" in forged[-1]["output"] and not forged.results[0].ran
    again = Toolset(double).answer({"output": [program, call("double", "a", caller=by)]})
    assert "programs may not call 'double'" in again[-1]["output"]


def test_anthropics_programs_call_as_openais_do(home: Path) -> None:
    tools = Toolset(double)
    declared = tools.anthropic(programs=True)
    assert declared[0]["allowed_callers"] == ["direct", declared[1]["type"]]
    assert accepts("anthropic tool", declared[0])
    runs = {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {}}
    use = {"type": "tool_use", "id": "a", "name": "double", "input": {"n": 2}}
    by = {"type": "code_execution_20260120", "tool_id": "s"}
    answer = tools.answer(
        {"type": "message", "role": "assistant", "content": [runs, use | {"caller": by}]}
    )
    assert answer[1]["content"][0]["content"] == "4"
    forged = use | {"caller": by | {"tool_id": "t"}}
    answer = tools.answer({"type": "message", "role": "assistant", "content": [runs, forged]})
    assert answer[1]["content"][0]["is_error"] is True


def test_through_a_bridge_no_program_calls(made: Project) -> None:
    tools = Toolset(made, tools_mode="bridge", approve="all")
    declared = {
        one.get("name"): one.get("allowed_callers") for one in tools.responses(programs=True)
    }
    assert declared["call_tool"] == ["direct"]
    assert declared["search_tools"] == ["direct", "programmatic"]
    program = {"type": "program", "id": "i", "call_id": "p", "code": "", "fingerprint": "f"}
    name = next(iter(tools)).name
    call = {
        "type": "function_call",
        "call_id": "a",
        "name": "call_tool",
        "arguments": json.dumps({"name": name, "arguments": {}}),
        "caller": {"type": "program", "caller_id": "p"},
    }
    answer = tools.answer({"output": [program, call]})
    assert "programs may not call 'call_tool'" in answer[-1]["output"]
