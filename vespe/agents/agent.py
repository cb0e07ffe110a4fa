"""An agent: a model at a provider, a project's tools, and a conversation that goes on from one question to the next."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vespe.adapters.openai import OpenAIShape
from vespe.agents.call_checks import Ready
from vespe.agents.call_results import CallResult, Known
from vespe.agents.events import EventSystem
from vespe.agents.limits import Limits
from vespe.agents.loop import Loop, OnEvent, RunResult
from vespe.agents.open_calls import ModelCall
from vespe.agents.providers.base import LLMProvider
from vespe.agents.providers.requests import definitions
from vespe.agents.tool_sets import chosen, tool_set
from vespe.agents.transcripts import Transcript
from vespe.agents.turns import MAX_PARALLEL, TurnRunner
from vespe.calls.executors.mcp.sessions import Sessions
from vespe.calls.path import CallPath
from vespe.calls.policy import Ask, policy_of
from vespe.calls.registry import ToolRegistry
from vespe.library import Project
from vespe.models import Tool
from vespe.projects.workspace import Workspace, open_workspace


def _nothing(_: object) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What an agent does beside asking its model.

    `tools` names tools, `kit` one scope, and without either every available tool is shown. `approve` is one of
    `policy.POLICIES`; `ask` is given a Question and returns an Answer, and without it what would be asked is denied. `strict` shows
    tools in OpenAI's strict mode. `request` is what the vendor's request takes besides (`temperature`, …). `on_start` is told of each
    call as its tool begins, `on_result` of each result; `known` gives what became of a call in a recording, which is then not run.
    """

    tools: Sequence[str] | None = None
    kit: str | None = None
    system: str = ""
    approve: str = "ask"
    ask: Ask | None = None
    strict: bool = False
    stream: bool = True
    limits: Limits = field(default_factory=Limits)
    request: Mapping[str, object] = field(default_factory=dict)
    on_start: Callable[[Ready], None] = _nothing
    on_result: Callable[[CallResult], None] = _nothing
    known: Callable[[ModelCall], Known] = _nothing


class Agent:
    """Asks a model and runs the tools that it calls, in one project; one conversation, in `transcript`.

    `project` is a Project, a CallPath, or a path; None is the project that is found from here. `events`, an EventSystem, lets
    a GUI run the calls and watch, one after another; without it they run here. Nothing is sent unless the project is trusted at that
    moment: NotTrusted. Sessions with MCP servers are kept from one call to the next, unless the CallPath has its own, until `close` or the
    end of a `with`; where nobody closes it they end when they are idle, and with the process.
    """

    def __init__(
        self,
        provider: LLMProvider,
        project: Project | CallPath | str | None = None,
        *,
        options: AgentOptions | None = None,
        transcript: Transcript | None = None,
        events: EventSystem | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        self.path = _path(project)
        self.path.check_trust()
        self._sessions = Sessions()
        if self.path.sessions is None:
            self.path = replace(self.path, sessions=self._sessions)
        self.options = options or AgentOptions()
        self.transcript = transcript or Transcript(model=provider.model, provider=provider.name)
        policy = policy_of(self.path, policy=self.options.approve, ask=self.options.ask)
        found = chosen(self.path.workspace, names=self.options.tools, kit=self.options.kit)
        shown = tool_set((tool for tool in found if not policy.why_never(tool)), strict=self.options.strict)
        self.tools: Mapping[str, Tool] = shown.tools
        if events is not None and events.definitions is None:
            events.definitions = lambda: definitions(shown.shown, OpenAIShape())
        turns = TurnRunner(
            tools=shown.tools,
            runner=self.path if events is None else events.bound(self.path),
            max_parallel=MAX_PARALLEL if events is None else 1,
            policy=policy,
            strict=shown.strict,
            on_start=self.options.on_start,
            on_result=self.options.on_result,
            known=self.options.known,
        )
        self._loop = Loop(
            provider=provider,
            turns=turns,
            tools=shown.shown,
            limits=self.options.limits,
            options=self.options.request,
            stream=self.options.stream,
            on_event=on_event,
            before_asking=self.path.check_trust,
            events=events,
        )

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what is kept between calls: the agent's own sessions with MCP servers."""
        self._sessions.close()

    def run(self, prompt: str | None = None, *, cancel: threading.Event | None = None) -> RunResult:
        """Say `prompt`, and go on until the model is done or a limit is reached; calls that wait are run first. See `Loop.run`."""
        if self.options.system and not self.transcript.messages:
            self.transcript.add({"role": "system", "content": self.options.system})
        return self._loop.run(self.transcript, prompt=prompt, cancel=cancel)


def run_loop(
    provider: LLMProvider, prompt: str, *, project: Project | CallPath | str | None = None, options: AgentOptions | None = None
) -> RunResult:
    """Ask a model once, with a project's tools, and give how it ended; see `Agent`."""
    with Agent(provider, project, options=options) as agent:
        return agent.run(prompt)


def _path(project: Project | CallPath | str | None) -> CallPath:
    if isinstance(project, CallPath):
        return project
    if isinstance(project, Project):
        return project.call_path()
    workspace: Workspace = open_workspace(project)
    return CallPath(workspace=workspace, registry=ToolRegistry())
