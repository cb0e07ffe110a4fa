"""An agent: a model at a provider, a project's tools, and a conversation that goes on from one
question to the next.
"""

import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Protocol

from vespe.adapters.large_results import reading
from vespe.adapters.large_results.handles import LargeResults
from vespe.adapters.modes import most_tools
from vespe.adapters.openai import OpenAIShape
from vespe.adapters.streams.base import StreamEvent
from vespe.calls.in_process import in_thread
from vespe.calls.path import CallPath, open_path
from vespe.calls.policy import Answer, Ask, Question, policy_of
from vespe.errors import ToolNotFound, UsageError
from vespe.features.agents.asynchronous import Home, runner_in
from vespe.features.agents.call_checks import Ready
from vespe.features.agents.call_results import CallResult, Known
from vespe.features.agents.events import EventSystem, Runner
from vespe.features.agents.limits import Limits
from vespe.features.agents.loop import Loop, OnEvent, RunResult
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.providers import provider_class
from vespe.features.agents.providers.base import LLMProvider, ShownTools
from vespe.features.agents.providers.requests import definitions
from vespe.features.agents.tool_sets import ToolSet, chosen, tool_set
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.turns import MAX_PARALLEL, PolicyLike, TurnRunner
from vespe.lazy import asyncio, difflib
from vespe.library import Project
from vespe.models import Approve, Call, JsonObject, Outcome, Tool, ToolsMode
from vespe.processes.workers import Workers
from vespe.projects.workspace import open_workspace
from vespe.records import dataclass
from vespe.types.mcp_tool.sessions import Sessions


def _nothing(_: object) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """The options of an agent.

    `tools` are names of tools, and `kit` is one scope. Without both, the model sees all available
    tools. `approve` decides which calls run without a question. `ask` is a function that gets a
    Question and returns an Answer; without it, calls that need a question are denied. `strict`
    declares tools in OpenAI's strict mode. `request` has further options of the vendor's request
    (`temperature`, …). `on_start` is called when a tool starts, and `on_result` with each result.
    `known` returns the recorded outcome of a call, which is then not run. `tools_mode` decides
    whether all tools are declared, or a few that search, describe and call the others.

    ```python
    from vespe import Agent, AgentOptions, Limits, SimulatedProvider, Toolset

    options = AgentOptions(system="Be brief.", limits=Limits(max_iterations=2))
    model = SimulatedProvider({"turns": [{"text": "Hello."}]})
    result = Agent(model, tools=Toolset(), options=options).run("Hi")
    assert result.text == "Hello."
    assert result.messages[0] == {"role": "system", "content": "Be brief."}
    ```
    """

    tools: Sequence[str] | None = None
    kit: str | None = None
    system: str = ""
    approve: Approve = "ask"
    ask: Ask | Callable[[Question], Awaitable[Answer]] | None = None
    strict: bool = False
    tools_mode: ToolsMode = "auto"
    stream: bool = True
    limits: Limits = field(default_factory=Limits)
    request: Mapping[str, object] = field(default_factory=dict)
    on_start: Callable[[Ready], None] = _nothing
    on_result: Callable[[CallResult], None] = _nothing
    known: Callable[[ModelCall], Known] = _nothing


class ToolSource(Protocol):
    """Tools from anywhere, which know how to run their calls and what decides on them: a `Toolset`,
    or anything like it.

    With `arun_tool` (see `CallPath.arun_tool`) calls run in the caller's event loop where it awaits
    the agent; a `check_trust` is asked before anything is sent.
    """

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name."""
        ...

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        """Run one call of a tool to its Outcome."""
        ...

    def why_not(self, tool: Tool, inputs: JsonObject) -> str:
        """Say why a call may not run, in words for the model, or "" where it may."""
        ...


class Agent:
    """An agent sends prompts to a model and runs the tools that it calls. It has one conversation,
    `transcript`.

    `provider` is a provider object, or a string `"NAME:MODEL"` (`"anthropic:claude-sonnet-4-5"`).
    The tools are those of `project`: a Project, a CallPath, or a path; None means the project that
    contains the working directory. Alternatively, pass `tools`, which need no project and decide
    about approval themselves. With `events`, an EventSystem, a GUI runs the calls, one after
    another. Nothing is sent if the project is not trusted: NotTrusted.

    Sessions with MCP servers are kept from one call to the next, until `close` or the end of a
    `with` block. If you do not close the agent, they end when they are idle, or with the process. A
    CallPath with sessions of its own uses these instead.

    ```python
    import asyncio
    from vespe import Agent, AgentOptions, SimulatedProvider

    async def main() -> None:
        model = SimulatedProvider({"turns": [{"text": "Hello."}]})
        agent = Agent(model, options=AgentOptions(tools=[]))
        async for event in agent.stream("Hi"):
            print(event.type, event.text)
        assert agent.result is not None and agent.result.text == "Hello."

    asyncio.run(main())
    ```
    """

    def __init__(
        self,
        provider: LLMProvider | str,
        project: Project | CallPath | str | None = None,
        *,
        tools: ToolSource | None = None,
        options: AgentOptions | None = None,
        transcript: Transcript | None = None,
        events: EventSystem | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        self.options = options or AgentOptions()
        self._sessions, self._workers = Sessions(), Workers()
        self._home: Home | None = None
        self.result: RunResult | None = None
        source = self._of_project(project) if tools is None else self._of_tools(tools, project)
        provider = _provider(provider)
        self.transcript = transcript or Transcript(model=provider.model, provider=provider.name)
        mode, strict = self.options.tools_mode, self.options.strict
        shown = tool_set(
            source.tools,
            strict=strict,
            mode=mode,
            always=source.always,
            api=provider.api,
            budget=source.budget,
        )
        if shown.bridge is not None:
            shown.bridge.home = source.home
        self.tools: Mapping[str, Tool] = shown.tools
        # what 0.2 recorded is replayed as it was asked then
        reads = getattr(provider, "bounds_results", True)
        declared = [*shown.shown, *(_reading(shown, provider.api) if reads else ())]
        if events is not None and events.definitions is None:
            events.definitions = lambda: definitions(declared, OpenAIShape())
        turns = TurnRunner(
            tools=shown.tools,
            runner=source.runner if events is None else events.bound(source.runner),
            max_parallel=MAX_PARALLEL if events is None else 1,
            policy=source.policy,
            strict=shown.strict,
            bridge=shown.bridge,
            on_start=self.options.on_start,
            on_result=self.options.on_result,
            known=self.options.known,
            large=LargeResults(self.transcript.results) if reads else None,
        )
        turns.saw_before(self.transcript.messages)
        self._loop = Loop(
            provider=provider,
            turns=turns,
            tools=ShownTools(declared),
            limits=self.options.limits,
            options=self.options.request,
            stream=self.options.stream,
            on_event=on_event,
            before_asking=source.check_trust,
            events=events,
        )

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the agent's sessions with MCP servers, which are kept between calls."""
        self._sessions.close()
        self._workers.close()

    def run(self, prompt: str | None = None, *, cancel: threading.Event | None = None) -> RunResult:
        """Send `prompt`, and continue until the model is done or a limit is reached. Pending calls
        run first.
        """
        return self._run(self._loop, prompt, cancel)

    async def arun(self, prompt: str | None = None) -> RunResult:
        """Do the same as `run` from an event loop, without blocking it.

        Async tools, `ask`, `on_event` and the other hooks are called in that loop, and all of them
        may be async. If the task is cancelled, running calls are stopped and the conversation stays
        consistent.
        """
        return await self._arun(prompt, self._loop.on_event)

    async def stream(self, prompt: str | None = None) -> AsyncGenerator[StreamEvent]:
        """Do the same as `arun`, and yield each event as it arrives. Afterwards, `result` is the
        RunResult. Leaving the iteration ends the run.
        """
        events: asyncio.Queue[StreamEvent | None] = asyncio.Queue()
        heard = self._loop.on_event

        def on_event(event: StreamEvent) -> object:
            events.put_nowait(event)
            return None if heard is None else heard(event)

        run = asyncio.create_task(self._arun(prompt, on_event))
        run.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await run
        finally:
            run.cancel()
            await asyncio.wait([run])

    async def _arun(
        self, prompt: str | None, on_event: Callable[[StreamEvent], object] | None
    ) -> RunResult:
        if self._home is not None:
            raise UsageError(
                "this agent is already running: a conversation can have one run at a time"
            )
        ending = threading.Event()
        home = Home(asyncio.get_running_loop(), ending)
        turns = replace(
            self._loop.turns,
            runner=runner_in(home, self._loop.turns.runner),
            on_start=home.calling(self.options.on_start),
            on_result=home.calling(self.options.on_result),
        )
        loop = replace(
            self._loop, turns=turns, on_event=None if on_event is None else home.calling(on_event)
        )
        self._home = home
        try:
            result: RunResult = await in_thread(
                lambda: self._run(loop, prompt, ending), leave=ending.set
            )
        finally:
            self._home = None
        return result

    def _run(self, loop: Loop, prompt: str | None, cancel: threading.Event | None) -> RunResult:
        if self.options.system and not self.transcript.messages:
            self.transcript.add({"role": "system", "content": self.options.system})
        self.result = loop.run(self.transcript, prompt=prompt, cancel=cancel)
        return self.result

    def _ask(self, question: Question) -> Answer:
        """Ask whoever is asked, in the event loop where one awaits the run."""
        ask: Callable[[Question], Any] = self.options.ask or _nothing
        answer: Answer = ask(question) if self._home is None else self._home.call(ask, question)
        return answer

    def _of_project(self, project: Project | CallPath | str | None) -> "_Source":
        path = _path(project)
        path.check_trust()
        self.path = replace(
            path, sessions=path.sessions or self._sessions, workers=path.workers or self._workers
        )
        policy = policy_of(
            self.path, policy=self.options.approve, ask=self._ask if self.options.ask else None
        )
        found = chosen(
            self.path.workspace,
            names=self.options.tools,
            kit=self.options.kit,
            registry=self.path.registry,
        )
        every = policy.not_denied(found)
        view, document = self.path.workspace.view, self.path.workspace.config.document
        always = frozenset(tool.name for tool in every if view.exposure(tool.itself) == "always")
        return _Source(
            tools=every,
            runner=self.path,
            policy=policy,
            check_trust=self.path.check_trust,
            always=always,
            budget=document.get("tool_budget"),
            home=self.path,
        )

    def _of_tools(self, tools: ToolSource, project: object) -> "_Source":
        if project is not None or self.options.kit is not None:
            raise UsageError(
                "pass an agent either a project or its tools, not both",
                hint="leave out `project` and `kit`",
            )
        every = _picked(tools.tools, self.options.tools)
        return _Source(
            tools=every,
            runner=tools,
            policy=tools,
            check_trust=getattr(tools, "check_trust", None),
            home=getattr(tools, "home", None),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Where an agent's tools are from: what runs their calls, what decides on them, and what is
    asked before anything is sent.
    """

    tools: Sequence[Tool]
    runner: Runner
    policy: PolicyLike
    check_trust: Callable[[], None] | None
    always: frozenset[str] = frozenset()
    budget: object = None
    home: CallPath | None = None


def run_loop(
    provider: LLMProvider | str,
    prompt: str,
    *,
    project: Project | CallPath | str | None = None,
    options: AgentOptions | None = None,
) -> RunResult:
    """Run an agent once with a project's tools, and return the result; see `Agent`.

    ```python
    from vespe import Project, SimulatedProvider, run_loop

    project = Project.init(".")
    result = run_loop(SimulatedProvider({"turns": [{"text": "Hello."}]}), "Hi", project=project)
    assert result.text == "Hello." and result.stop_reason == "done"
    ```
    """
    with Agent(provider, project, options=options) as agent:
        return agent.run(prompt)


def _reading(shown: ToolSet, api: str) -> Sequence[Tool]:
    """Return `read_result` where there are tools whose results it could read, no other tool has its
    name, and the API takes one more.
    """
    most = most_tools(api)
    full = most is not None and len(shown.shown) >= most.value
    return () if not shown.tools or reading.READ in shown.tools or full else (reading.TOOL,)


def _path(project: Project | CallPath | str | None) -> CallPath:
    if isinstance(project, CallPath):
        return project
    if isinstance(project, Project):
        return project.call_path()
    return open_path(open_workspace(project))


def _provider(given: LLMProvider | str) -> LLMProvider:
    """Return a provider, or the one that `NAME:MODEL` names."""
    if not isinstance(given, str):
        return given
    name, _, model = given.partition(":")
    made = provider_class(name)(model)
    if not made.model:
        raise UsageError(
            f"{given!r} names no model",
            hint=f"name one: {name}:MODEL, or `vespe config set providers.{name}.model MODEL`",
        )
    return made


def _picked(tools: Mapping[str, Tool], names: Sequence[str] | None) -> list[Tool]:
    """Return the tools of these names, or all; raises ToolNotFound."""
    if missing := [name for name in names or () if name not in tools]:
        raise ToolNotFound(missing[0], close=difflib.get_close_matches(missing[0][:64], tools, n=3))
    return list(tools.values()) if names is None else [tools[name] for name in names]
