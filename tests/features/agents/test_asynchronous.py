"""An agent that is awaited."""

import asyncio
import contextlib
import threading
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import NUMBER, READ_ONLY, Bench, assert_consistent, call
from vespe import Agent, AgentOptions, Answer, EventSystem, Project, Question, SimulatedProvider
from vespe.errors import UsageError
from vespe.models import Call, Outcome, Tool


def test_async_tools_and_hooks_run_in_the_callers_loop_and_share_its_lock(bench: Bench) -> None:
    async def main() -> None:
        lock, here = asyncio.Lock(), threading.current_thread()
        threads = list[threading.Thread]()

        async def guarded(n: int) -> int:
            async with lock:
                await asyncio.sleep(0)
                threads.append(threading.current_thread())
                return n

        async def ask(question: Question) -> Answer:
            threads.append(threading.current_thread())
            await asyncio.sleep(0)
            return Answer(allowed=question.inputs["n"] != 3)

        bench.tool("guarded", guarded, schema=NUMBER)
        turn = [call("guarded", {"n": n}) for n in (1, 2, 3)]
        agent = bench.agent(
            turn,
            "end",
            approve="ask",
            ask=ask,
            on_result=lambda result: threads.append(threading.current_thread()),
        )
        async with lock:
            run = asyncio.create_task(agent.arun("go"))
            await asyncio.sleep(0.05)
        result = await run
        assert (
            [one.ran for one in result.calls] == [True, True, False]
            and result.text == "end"
            and agent.result is result
        )
        assert len(threads) == 8 and set(threads) == {here}

    asyncio.run(main())


def test_events_come_as_they_happen_and_the_result_is_there_when_they_are_over(
    bench: Bench,
) -> None:
    bench.tool("step", annotations=READ_ONLY)

    async def main() -> None:
        agent = bench.agent({"text": "I look.", "tool_calls": [call("step")]}, "Done now.")
        types = [event.type async for event in agent.stream("go")]
        assert (
            types.index("text") < types.index("tool_start") < types.index("tool_result")
            and types[-1] == "done"
        )
        assert agent.result is not None and agent.result.text == "Done now."

    asyncio.run(main())


@pytest.mark.parametrize("leave", ["cancel", "break"])
def test_leaving_a_run_ends_what_runs_and_the_conversation_stays_consistent(
    bench: Bench, leave: str
) -> None:
    ended = list[str]()

    async def main() -> None:
        begun, left = asyncio.Event(), asyncio.Event()

        async def slow() -> None:
            begun.set()
            try:
                await asyncio.sleep(0 if left.is_set() else 60)
            finally:
                ended.append("ended")

        bench.tool("slow", slow)
        agent = bench.agent([call("slow")], "never")
        if leave == "cancel":
            run = asyncio.create_task(agent.arun("go"))
            await begun.wait()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
        else:
            async with contextlib.aclosing(agent.stream("go")) as events:
                async for _ in events:
                    break
        left.set()
        assert_consistent(agent.transcript.messages)
        again = await agent_going_on(bench, agent).arun()
        assert again.text == "end" and not again.open_calls

    asyncio.run(main())
    assert leave == "break" or ended


def agent_going_on(bench: Bench, agent: Agent) -> Agent:
    return bench.agent("end", transcript=agent.transcript)


def test_what_the_run_raises_is_raised_to_whoever_awaits_it(bench: Bench) -> None:
    bench.tool("write")

    async def main() -> None:
        agent = bench.agent([call("write")], "end", approve="ask", ask=lambda question: "yes")
        with pytest.raises(UsageError, match=r"vespe\.Answer"):
            await agent.arun("go")
        with pytest.raises(UsageError, match=r"vespe\.Answer"):
            async for _ in agent.stream():
                pass

    asyncio.run(main())


def test_one_conversation_has_one_run_at_a_time_and_two_agents_two(bench: Bench) -> None:
    async def main() -> None:
        free = asyncio.Event()
        bench.tool("wait", free.wait)
        one, other = bench.agent([call("wait")], "one"), bench.agent([call("wait")], "other")
        runs = [asyncio.create_task(agent.arun("go")) for agent in (one, other)]
        await asyncio.sleep(0.05)
        with pytest.raises(UsageError, match="one run at a time"):
            await one.arun("go")
        free.set()
        assert [result.text for result in await asyncio.gather(*runs)] == ["one", "other"]

    asyncio.run(main())


class Own:
    """Tools that know how to run themselves, without a project."""

    def __init__(self) -> None:
        self.tools = {
            name: Tool(uid="", name=name, description="", input_schema=NUMBER)
            for name in ("double", "denied")
        }

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        inputs = call.arguments
        return Outcome(
            tool=tool.name, uid=None, result=2 * inputs["n"] if isinstance(inputs, dict) else None
        )

    def why_not(self, tool: Tool, inputs: Any) -> str:
        return "nobody may" if tool.name == "denied" else ""


class Awaited(Own):
    async def arun_tool(self, tool: Tool, call: Call) -> Outcome:
        await asyncio.sleep(0)
        return self.run_tool(tool, call)


@pytest.mark.parametrize("tools", [Own(), Awaited()])
@pytest.mark.parametrize("awaited", [False, True])
def test_an_agent_takes_tools_without_a_project(home: object, tools: Own, awaited: bool) -> None:
    turn = {"tool_calls": [call("double", {"n": 4}), call("denied", {"n": 1})]}
    agent = Agent(SimulatedProvider({"turns": [turn, {"text": "end"}]}), tools=tools)
    result = asyncio.run(agent.arun("go")) if awaited else agent.run("go")
    assert [one.message["content"] for one in result.calls] == [
        "8",
        "nobody may; continue without it",
    ]


def test_an_agent_has_tools_from_one_place_and_only_those_that_were_picked(bench: Bench) -> None:
    provider = SimulatedProvider({"turns": []})
    with pytest.raises(UsageError, match="pass an agent either a project or its tools"):
        Agent(provider, Project(bench.root), tools=Own())
    assert list(Agent(provider, tools=Own(), options=AgentOptions(tools=["double"])).tools) == [
        "double"
    ]
    with pytest.raises(LookupError, match="doubel"):
        Agent(provider, tools=Own(), options=AgentOptions(tools=["doubel"]))


def test_a_window_may_run_the_calls_of_given_tools(home: object) -> None:
    events = EventSystem()
    events.subscribe(
        "execute_tool_request",
        lambda one: events.publish(
            "tool_execution_response", {"request_id": one["request_id"], "result": "window"}
        ),
    )
    turn = {"tool_calls": [call("double", {"n": 4})]}
    result = Agent(
        SimulatedProvider({"turns": [turn, {"text": "end"}]}), tools=Own(), events=events
    ).run("go")
    assert result.calls[0].message["content"] == "window"


@pytest.mark.parametrize(
    ("named", "said"),
    [("nobody:m", "there is no provider 'nobody'"), ("ollama", "'ollama' names no model")],
)
def test_a_provider_is_named_with_its_model(home: object, named: str, said: str) -> None:
    assert Agent("ollama:qwen3", tools=Own()).transcript.model == "qwen3"
    with pytest.raises(UsageError, match=said):
        Agent(named, tools=Own())
