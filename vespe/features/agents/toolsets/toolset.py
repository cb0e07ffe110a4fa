"""Tools for a program that has a client and a loop of its own: functions, a project's tools and
kits in one set.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast

from vespe.adapters import SHAPES, callers
from vespe.adapters.gemini_interactions import InteractionsShape
from vespe.adapters.large_results import reading
from vespe.adapters.large_results.handles import LargeResults
from vespe.adapters.modes import defer, mode_of
from vespe.calls import path as call_path
from vespe.calls import tracing
from vespe.calls.bridge import OWN, SEARCH, Bridge
from vespe.calls.in_process import in_thread
from vespe.calls.path import CallPath
from vespe.calls.policy import Ask, CallPolicy, policy_of
from vespe.calls.registry import ToolRegistry
from vespe.calls.taint import Taint, copied
from vespe.errors import MissingExtra, ToolNotFound, UsageError, VespeError
from vespe.features.agents.asynchronous import Home, runner_in
from vespe.features.agents.call_checks import Ready, refused_caller
from vespe.features.agents.call_results import CallResult, not_run
from vespe.features.agents.limits import Stop
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.providers.requests import definitions
from vespe.features.agents.tool_sets import bridge_of, kit_tools, require_same, tool_set
from vespe.features.agents.toolsets.responses import Turn, cut_calls, read_turn
from vespe.features.agents.turns import TurnRunner, bounded, bridged, checked, noted
from vespe.lazy import asyncio, difflib
from vespe.library.function_tools import FunctionTool, function_tool
from vespe.library.project import Project
from vespe.models import (
    Approve,
    Call,
    JsonObject,
    JsonValue,
    Outcome,
    ProjectConfig,
    Tool,
)
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.features.agents.toolsets.to_langchain import StructuredTool
    from vespe.features.agents.toolsets.to_openai_agents import AgentsTool
    from vespe.features.agents.toolsets.to_pydantic_ai import PydanticTool

Source: TypeAlias = "Callable[..., Any] | FunctionTool | Project | Toolset | str | os.PathLike[str]"
"""What a set is made of: a function, a project, another set, a kit by its id, or by its
directory.
"""


@dataclass(frozen=True, slots=True)
class _Held:
    tool: Tool
    path: CallPath
    own: bool
    """Whether it is a function of the program, which needs nobody's word."""


ToolsetMode: TypeAlias = Literal["all", "bridge", "code", "auto"]


class ToolsetAnswer(list[JsonObject]):
    """The messages to append to a conversation: the model's turn and, behind it, what became of its
    calls.

    `results` are the calls with their outcomes; `done` is true where there were none: the model has
    answered.
    """

    def __init__(self, messages: Iterable[JsonObject], results: Sequence[CallResult]) -> None:
        super().__init__(messages)
        self.results = tuple(results)

    @property
    def done(self) -> bool:
        """Whether the model made no calls."""
        return not self.results


class Toolset:
    """A set of tools from several sources: functions, projects and kits. It needs no project
    directory.

    A function runs in this process. If one of the sources is a project, functions run as part of
    that project. A kit is given by its id or its directory (`"./kits/files"`). Tools are loaded
    when the set is created. Every call has the usual checks, limits and log.

    Calls of a model (`answer`) may need approval. The program's own functions and read-only tools
    run without it. For other tools, `approve` decides: `ask` (calls the function `ask`, and denies
    without one), `read-only`, `all` or `none`. Calls that a configuration denies are always denied.

    `tools_mode` decides which tools models see: `all`; `bridge` (the tools that a project always
    exposes, and three tools that search, describe and call the others); `code` (only tools that
    search, describe, and run programs over the tools); or `auto`, which is `bridge` if the
    definitions exceed the project's `tool_budget`, and `all` otherwise. `answer` handles the calls
    of these tools as well. A tool that is given twice is included once.

    If a result is larger than its tool's `limits.model_tokens`, the model gets a part of it and a
    handle; the Outcome has the whole result. Calls of `read_result`, which reads the rest, are
    always answered. With `read_result=True` this tool is also declared to the model.

    Raises UsageError if two different tools have the same name, KitNotFound, ProjectNotFound,
    InvalidTool.

    ```python
    from vespe import Toolset, tool

    @tool(read_only=True)
    def search(query: str, limit: int = 5) -> list[str]:
        \"""Search the notes.\"""
        return [query] * limit

    tools = Toolset(search, "file_io_without_git")
    assert "search" in tools and "read_file" in tools
    assert tools.openai()[0]["function"]["name"] == "search"
    assert tools.call("search", query="x", limit=1).unwrap() == ["x"]
    ```
    """

    def __init__(
        self,
        *sources: Source,
        approve: Approve = "ask",
        ask: Ask | None = None,
        tools_mode: ToolsetMode = "all",
        read_result: bool = False,
    ) -> None:
        self._approve, self._ask = approve, ask
        self._large, self._reads = LargeResults(), read_result
        self._held: dict[str, _Held] = {}
        self._strict: frozenset[str] = frozenset()
        self._put_off: frozenset[str] = frozenset()
        self._open_to_programs: frozenset[str] = frozenset()
        self._programs: set[str] = set()
        project = next((source for source in sources if isinstance(source, Project)), None)
        self._home = project or Project(ProjectConfig())
        self._home.__enter__()
        self._functions = self._functions_path()
        for source in sources:
            for held in self._of(source):
                self._add(held)
        self._policies: dict[int, CallPolicy] = {}
        self._taint = Taint()
        self._bridge = self._bridged(tools_mode)

    def __repr__(self) -> str:
        return f"<Toolset of {', '.join(self._held) or 'nothing'}>"

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Tool]:
        return (held.tool for held in self._held.values())

    def __contains__(self, name: object) -> bool:
        return name in self._held

    def __getitem__(self, name: str) -> Tool:
        return self._one(name).tool

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sessions with MCP servers, which are kept between calls."""
        self._home.close()

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name."""
        return {name: held.tool for name, held in self._held.items()}

    @property
    def declared(self) -> Mapping[str, Tool]:
        """The tools that are declared to a model, by name: all, or those of a bridge."""
        every = self.tools if self._bridge is None else self._bridge.declared
        reads = self._reads and reading.READ not in self._held
        return {**every, reading.READ: reading.TOOL} if reads else every

    # ---- definitions

    def openai(self, *, strict: bool = False) -> list[Any]:
        """Return `tools` for OpenAI's chat completions. With `strict`, tools are in strict mode if
        their schemas allow it.
        """
        return self._strictly("openai") if strict else self._shown("openai")

    def responses(
        self, *, strict: bool = False, native: bool = False, programs: bool = False
    ) -> list[Any]:
        """Return `tools` for OpenAI's Responses API. With `strict`, tools are in strict mode if
        their schemas allow it.

        With `native`, the API searches the tools (`tool_search`), except those that a project
        always exposes. With `programs`, the API also runs programs, which may call all tools that
        are not destructive.
        """
        made = self._for_responses(strict=strict, native=native)
        return self._with_programs(made, "openai-responses", wanted=programs)

    def _for_responses(self, *, strict: bool, native: bool) -> list[JsonObject]:
        if native:
            return self._deferred("openai-responses")
        return self._strictly("openai-responses") if strict else self._shown("openai-responses")

    def _strictly(self, shape: str) -> list[JsonObject]:
        shown = tool_set(self.declared.values(), strict=True)
        self._strict = shown.strict
        return definitions(shown.shown, SHAPES[shape])

    def anthropic(self, *, native: bool = False, programs: bool = False) -> list[Any]:
        """Return `tools` for Anthropic's Messages API. With `native`, the API searches the tools,
        except those that a project always exposes.

        If the set uses a bridge, its `search_tools` searches instead of the API, and the result
        that `answer` returns loads the tools that were found. `programs` is as in `responses`.
        """
        return self._with_programs(self._for_anthropic(native), "anthropic", wanted=programs)

    def _for_anthropic(self, native: bool) -> list[JsonObject]:
        if not native or self._bridge is None:
            return self._deferred("anthropic") if native else self._shown("anthropic")
        self._put_off = frozenset(self._bridge.tools) - frozenset(self._bridge.declared)
        own = {name: tool for name, tool in self.declared.items() if name == reading.READ}
        every = {**self._bridge.tools, **own}
        always = self._exposed() | own.keys()
        return defer(every.values(), always=always, api="anthropic", search=OWN[SEARCH])

    def gemini(self) -> list[Any]:
        """Return `tools` for Gemini's `generateContent`: one object with every declaration."""
        return [{"functionDeclarations": self._shown("gemini")}] if self.declared else []

    def gemini_interactions(self) -> list[Any]:
        """Return `tools` for Gemini's Interactions."""
        return [InteractionsShape().definition(tool) for tool in self.declared.values()]

    def ollama(self) -> list[Any]:
        """Return `tools` for Ollama's chat."""
        return self._shown("ollama")

    def mcp(self) -> list[Any]:
        """Return the `tools` of MCP's `tools/list`."""
        return self._shown("mcp")

    def _with_programs(self, made: list[JsonObject], api: str, *, wanted: bool) -> list[JsonObject]:
        """Return definitions that say who may call each tool, where programs are `wanted`, with
        what runs these behind them; and take note of what the model is told.
        """
        if wanted and made:
            runner, known = dict(callers.RUNNERS[api]), {**self.tools, **self.declared}
            word = callers.word_for_programs([runner], api)
            made = [
                callers.with_callers(one, tool, word)
                if (tool := known.get(str(one.get("name")))) is not None
                else one
                for one in made
            ]
            made.append(runner)
        self._open_to_programs = callers.open_to_programs(made)
        return made

    def _deferred(self, shape: str) -> list[Any]:
        always = self._exposed() | {reading.READ}
        return defer(self.declared.values(), always=always, api=shape)

    def _exposed(self) -> frozenset[str]:
        """The names of the tools that a project exposes always."""
        views = {id(held.path): held.path.workspace.view for held in self._held.values()}
        return frozenset(
            name
            for name, held in self._held.items()
            if views[id(held.path)].exposure(held.tool.itself) == "always"
        )

    def _shown(self, shape: str) -> list[Any]:
        return [SHAPES[shape].definition(tool) for tool in self.declared.values()]

    def _bridged(self, mode: str) -> Bridge | None:
        if mode == "native":
            hint = "`anthropic(native=True)` and `responses(native=True)` give deferred definitions"
            raise UsageError(
                "whether an API searches tools itself is set when definitions are made for it",
                hint=hint,
            )
        budget = self._home.config.document.get("tool_budget")
        mode = mode_of(mode, self, api="openai", budget=budget)
        if mode not in ("bridge", "code"):
            return None
        return self._made_bridge(mode)

    def _made_bridge(self, mode: str) -> Bridge:
        may = {
            name: held.tool
            for name, held in self._held.items()
            if not self._policy_of(held).why_never(held.tool)
        }
        made = bridge_of(mode, may, self._exposed(), home=self.home)
        assert made is not None
        return made

    def langchain(self) -> "list[StructuredTool]":
        """Return the tools as LangChain tools; raises MissingExtra without langchain-core."""
        try:
            from vespe.features.agents.toolsets import to_langchain
        except ImportError as error:
            raise MissingExtra(
                "a set of tools for LangChain",
                extra="bridges",
                module=error.name or "langchain_core",
            ) from None
        return to_langchain.tools_of(self)

    def pydantic_ai(self) -> "list[PydanticTool[Any]]":
        """Return the tools as pydantic-ai tools; raises MissingExtra without pydantic-ai-slim."""
        try:
            from vespe.features.agents.toolsets import to_pydantic_ai
        except ImportError as error:
            raise MissingExtra(
                "a set of tools for pydantic-ai",
                extra="bridges",
                module=error.name or "pydantic_ai",
            ) from None
        return to_pydantic_ai.tools_of(self)

    def openai_agents(self) -> "list[AgentsTool]":
        """Return the tools as tools of the OpenAI Agents SDK; raises MissingExtra without
        openai-agents.
        """
        try:
            from vespe.features.agents.toolsets import to_openai_agents
        except ImportError as error:
            raise MissingExtra(
                "a set of tools for openai-agents", extra="bridges", module=error.name or "agents"
            ) from None
        return to_openai_agents.tools_of(self)

    # ---- calls

    def call(self, name: str, /, **arguments: Any) -> Outcome:
        """Run a tool: `tools.call("search", query="x")`. A failure is an Outcome with an error;
        raises ToolNotFound, NotTrusted.
        """
        return self.run_tool(self[name], Call(tool=name, arguments=arguments))

    async def acall(self, name: str, /, **arguments: Any) -> Outcome:
        """Run a tool from an event loop; see `call`. Async functions run in the caller's loop.
        Cancelling the task ends the call.
        """
        return await self.arun_tool(self[name], Call(tool=name, arguments=arguments))

    @property
    def home(self) -> CallPath:
        """The call path of the set's project."""
        return self._home.call_path()

    def run_code(self, code: str, *, call_id: str = "") -> CallResult:
        """Check a Python program whose functions are the tools of the set, then run it like a
        model's program: its calls need the same approval as in `answer`, and its result has the
        same size limit.

        Raises MissingExtra without `vespe[code]`, NotTrusted.

        ```python
        from vespe import Toolset

        def double(n: int) -> int:
            \"""Double a number.\"""
            return 2 * n

        done = Toolset(double).run_code("sum(double(n) for n in [1, 2, 3])")
        assert done.outcome.unwrap() == 12 and len(done.inner) == 3
        ```
        """
        results: dict[int, CallResult] = {}
        self._code_runner().run([self._program_call(code, call_id)], results, stop=Stop())
        return results[0]

    async def arun_code(self, code: str, *, call_id: str = "") -> CallResult:
        """Run a program from an event loop; see `run_code`. Async functions run in the caller's
        loop.
        """
        return await self._in_loop(self._program_call(code, call_id), self._code_runner())

    def _program_call(self, code: str, call_id: str) -> ModelCall:
        arguments = {"code": code}
        return ModelCall(call_id=call_id, name=self._code_bridge().program, arguments=arguments)

    def _code_runner(self) -> TurnRunner:
        return replace(self._runner(), bridge=self._code_bridge())

    def _code_bridge(self) -> Bridge:
        """Return the bridge that runs programs, whatever a model is shown."""
        bridge = self._bridge if self._bridge is not None and self._bridge.program else None
        return bridge or self._made_bridge("code")

    async def _in_loop(self, call: ModelCall, turns: TurnRunner) -> CallResult:
        """Run a call of a program beside the event loop, which goes on meanwhile."""
        ending, results = threading.Event(), dict[int, CallResult]()
        home = Home(asyncio.get_running_loop(), ending)
        turns = replace(turns, runner=runner_in(home, self))
        work = partial(turns.run, [call], results, stop=Stop(ending))
        await in_thread(work, leave=ending.set)
        return results[call.place]

    def check_trust(self) -> None:
        """Raise NotTrusted if a project of the set is not trusted. Call this before you send
        anything to a model.
        """
        for path in {id(held.path): held.path for held in self._held.values()}.values():
            path.check_trust()

    def path_of(self, name: str) -> CallPath:
        """Return the call path of a tool of the set; raises ToolNotFound."""
        return self._one(name).path

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        """Run one call of a tool of the set on its call path; raises the same errors as
        `CallPath.run_tool`.
        """
        return self._one(tool.name).path.run_tool(tool, call, cancel=cancel)

    async def arun_tool(self, tool: Tool, call: Call) -> Outcome:
        """Run one call of a tool of the set from an event loop; see `CallPath.arun_tool`."""
        return await self._one(tool.name).path.arun_tool(tool, call)

    # ---- a model's response

    def answer(self, response: object) -> ToolsetAnswer:
        """Run the calls in a vendor's response, and return the messages to append: the model's turn
        and the results.

        `response` is a dictionary, its JSON text, or the object that the vendor's client returned.
        Calls of read-only tools run in parallel, others one after another. Calls that are refused,
        denied or fail become errors for the model. Raises ParsingError if `response` is not a
        response, NotTrusted.

        ```python
        from vespe import Toolset

        def double(n: int) -> int:
            \"""Double a number.\"""
            return 2 * n

        message = {"role": "assistant", "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "double", "arguments": '{"n": 21}'},
            },
        ]}
        answer = Toolset(double).answer({"choices": [{"message": message}]})
        assert answer == [message, {"role": "tool", "tool_call_id": "1", "content": "42"}]
        assert not answer.done
        ```
        """
        turn, results = self._turn(response), dict[int, CallResult]()
        self._runner().run(turn.calls, results, stop=Stop(), cut=tuple(cut_calls(turn)))
        return self._answer(turn, results)

    async def aanswer(self, response: object) -> ToolsetAnswer:
        """Run the calls in a response from an event loop; see `answer`. Async functions run in the
        caller's loop.
        """
        turn, results = self._turn(response), dict[int, CallResult]()
        self._large.begin_turn()
        cut, together = set(cut_calls(turn)), list[asyncio.Task[CallResult]]()
        try:
            for call in turn.calls:
                one = self._ready(call, cut=call.place in cut)
                if isinstance(one, CallResult):
                    results[call.place] = one
                    continue
                if self._runner().is_program(one):
                    await _gathered(together, results)
                    results[call.place] = await self._in_loop(one.call, self._runner())
                elif one.tool.annotations.get("readOnlyHint") is not True:
                    await _gathered(together, results)
                    results[call.place] = await self._result(one)
                else:
                    together.append(asyncio.create_task(self._result(one)))
            await _gathered(together, results)
        finally:
            for task in together:
                task.cancel()
        return self._answer(turn, results)

    def run_call(self, name: str, arguments: JsonObject | str, *, call_id: str = "") -> CallResult:
        """Run one call that a model made, with the same approval as in `answer`. For frameworks
        that read responses themselves.
        """
        results: dict[int, CallResult] = {}
        self._runner().run(
            [ModelCall(call_id=call_id, name=name, arguments=arguments)], results, stop=Stop()
        )
        return results[0]

    async def arun_call(
        self, name: str, arguments: JsonObject | str, *, call_id: str = ""
    ) -> CallResult:
        """Run one call that a model made, from an event loop; see `run_call`."""
        one = self._ready(ModelCall(call_id=call_id, name=name, arguments=arguments), cut=False)
        if isinstance(one, CallResult):
            return one
        if self._runner().is_program(one):
            return await self._in_loop(one.call, self._runner())
        return await self._result(one)

    def why_not(self, tool: Tool, inputs: JsonObject) -> str:
        """Return why a model's call may not run, or "" if it may; see `CallPolicy.why_not`."""
        return self._policy_of(self._one(tool.name)).why_not(tool, inputs)

    def saw(self, tool: Tool) -> None:
        """Record that a model gets a result of this tool; see `CallPolicy.saw`."""
        self._taint.note(tool)

    def heard(self, said: JsonValue, *, tool: str = "") -> None:
        """Record a result of a tool, or without `tool` a message of the user; see
        `CallPolicy.heard`.
        """
        self._taint.heard(said, tool=tool)

    def _policy_of(self, held: _Held) -> CallPolicy:
        if id(held.path) not in self._policies:
            policy = "all" if held.own else self._approve
            self._policies[id(held.path)] = policy_of(
                held.path, policy=policy, ask=self._ask, taint=self._taint
            )
        return self._policies[id(held.path)]

    def _runner(self) -> TurnRunner:
        return TurnRunner(
            tools=self.tools,
            runner=self,
            policy=cast(CallPolicy, self),
            strict=self._strict,
            programs=self._open_to_programs,
            bridge=self._bridge,
            large=self._large,
        )

    def _turn(self, response: object) -> Turn:
        turn = read_turn(response, programs=self._programs)
        self._programs |= turn.programs
        return turn

    def _ready(self, call: ModelCall, *, cut: bool) -> Ready | CallResult:
        refused = refused_caller(call, self._open_to_programs)
        call = call if self._bridge is None else bridged(call, self._bridge)
        one = refused or checked(
            call, self.tools, strict=self._strict, bridge=self._bridge, cut=cut, large=self._large
        )
        if isinstance(one, Ready) and self._runner().is_program(one):
            return one  # its calls are decided on, one by one
        if isinstance(one, Ready):
            with copied(one.origins):
                why = self.why_not(one.tool, one.inputs)
            if why:
                one = not_run(call, f"{why}; continue without it", code="denied", tool=one.tool)
        if isinstance(one, CallResult) and not one.ran:
            tool = self._held[call.name].tool if call.name in self._held else None
            tracing.tell_refused(call.name, one.outcome, tool=tool, call_id=call.call_id)
        return bounded(one, self.tools, self._large) if isinstance(one, CallResult) else one

    async def _result(self, one: Ready) -> CallResult:
        call = Call(
            tool=one.tool.uid or one.tool.name, arguments=one.inputs, call_id=one.call.call_id
        )
        try:
            outcome = await self.arun_tool(one.tool, call)
        except VespeError as error:
            outcome = call_path.refused(one.tool, error)
        self.saw(one.tool)
        self.heard(
            outcome.result if outcome.error is None else outcome.error.message, tool=one.tool.name
        )
        done = CallResult(call=one.call, outcome=noted(outcome, one), ran=True)
        return bounded(done, self.tools, self._large)

    def _answer(self, turn: Turn, results: Mapping[int, CallResult]) -> ToolsetAnswer:
        ordered = [results[place] for place in sorted(results)]
        return ToolsetAnswer(
            [*turn.messages, *turn.results(ordered, self.tools, put_off=self._put_off)], ordered
        )

    # ---- what it is made of

    def _add(self, held: _Held) -> None:
        require_same(self._held.setdefault(held.tool.name, held).tool, held.tool)

    def _one(self, name: str) -> _Held:
        if name in self._held:
            return self._held[name]
        raise ToolNotFound(name, close=difflib.get_close_matches(name[:64], self._held, n=3))

    def _of(self, source: Source) -> Iterator[_Held]:
        if isinstance(source, Toolset):
            yield from source._held.values()
        elif isinstance(source, Project):
            path = source.call_path()
            yield from (
                _Held(tool, path, False)
                for tool in path.workspace.shown(source.list_tools()).tools.values()
            )
        elif isinstance(source, (str, os.PathLike)):
            path = self._home.call_path()
            yield from (
                _Held(tool, path, False)
                for tool in kit_tools(os.fspath(source), project=self._home.config.root)
            )
        elif (made := function_tool(source)) is not None:
            known = self._functions.registry.find(made.name)
            if not isinstance(known, FunctionTool) or known.function is not made.function:
                known = made
            yield _Held(known.definition, self._functions, True)
            if known is made and made.name not in self._functions.registry:
                self._functions.registry.register(made)
        else:
            raise UsageError(
                "a set of tools is made of functions, projects and kits, "
                f"not of {type(source).__name__}"
            )

    def _functions_path(self) -> CallPath:
        """A call path for the program's own functions: they need no trust in a project, and no
        project.
        """
        path = self._home.call_path()
        return replace(path, registry=ToolRegistry(), trusted=True, live=None)


async def _gathered(
    tasks: "list[asyncio.Task[CallResult]]", results: dict[int, CallResult]
) -> None:
    """Wait for what runs at the same time."""
    for result in await asyncio.gather(*tasks):
        results[result.call.place] = result
    tasks.clear()
