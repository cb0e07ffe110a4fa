"""What `agent run` and `agent chat` share: their options, and the provider and agent that these
make.
"""

import gc
import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar, cast

import click

from vespe import errors
from vespe.adapters.modes import MODES
from vespe.calls import policy_answers
from vespe.calls.path import CallPath, open_path
from vespe.calls.policy import POLICIES, policy_of
from vespe.cli import options, questions, report
from vespe.documents.near import join_words
from vespe.features.agents import tool_sets
from vespe.features.agents.agent import Agent, AgentOptions
from vespe.features.agents.limits import MAX_CALLS, MAX_ITERATIONS, Limits
from vespe.features.agents.providers import PROVIDERS, provider_class, provider_names
from vespe.features.agents.providers.base import LLMProvider
from vespe.features.agents.providers.retries import AT_ONCE, PATIENCE
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.verbs import asking
from vespe.features.agents.verbs.shown import RunDisplay
from vespe.models import Approve, ToolsMode
from vespe.projects import user_config
from vespe.projects.workspace import open_workspace
from vespe.records import dataclass

F = TypeVar("F", bound=Callable[..., Any])
_SCRIPT: Final = (
    "--provider simulated --script FILE, where FILE holds the model's turns, "
    'such as {"turns": [{"text": "Hi."}]}'
)
_POSITIVE: Final = click.IntRange(min=1)


def _completed(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """Complete a provider's name; where the configuration cannot be read, only the table's."""
    try:
        names = provider_names()
    except errors.VespeError:
        names = list(PROVIDERS)
    return [name for name in names if name.startswith(begun)]


_OPTIONS: Final = (
    click.option(
        "--provider",
        metavar="NAME",
        shell_complete=_completed,
        help=f"The provider: {', '.join(PROVIDERS)}, or the NAME of an endpoint in your "
        "configuration (`providers.NAME`). Default: the provider of the resumed "
        "conversation, otherwise `agent.provider` in your configuration.",
    ),
    click.option(
        "--model",
        metavar="M",
        default="",
        help="The model's name. Default: the model of the resumed conversation, otherwise "
        "`agent.model` (for the provider `agent.provider`) or `providers.NAME.model` in your "
        "configuration.",
    ),
    click.option(
        "--script", metavar="FILE", help="The answers of the simulated provider, as JSON or YAML."
    ),
    click.option(
        "--system", metavar="TEXT", default="", help="The system prompt of a new conversation."
    ),
    click.option(
        "--tools",
        "names",
        metavar="NAME",
        multiple=True,
        help="Show the model only this tool; repeatable, or several separated by commas.",
    ),
    click.option(
        "--kit",
        metavar="KIT",
        help="Show the model only this kit's tools (project_tools: the project's own).",
    ),
    click.option("--no-tools", is_flag=True, help="Show the model no tools."),
    click.option(
        "--tools-mode",
        type=click.Choice(MODES),
        help="all: declare every tool; bridge: let the model search for tools that are not "
        "always exposed; code: let the model write programs whose functions are the "
        "tools (vespe[code]); native: let the vendor's API search (Anthropic, OpenAI's "
        "Responses); auto: all, unless the tools exceed the project's tool_budget or the "
        "API's limit. Default: `agent.tools_mode` in your configuration, otherwise auto.",
    ),
    click.option(
        "--strict",
        is_flag=True,
        help="Declare tools in OpenAI's strict mode if their schemas allow it.",
    ),
    click.option(
        "--max-iterations",
        type=_POSITIVE,
        metavar="N",
        default=MAX_ITERATIONS,
        show_default=True,
        help="The maximum number of rounds of calls; after that, the model must answer.",
    ),
    click.option(
        "--max-calls",
        type=_POSITIVE,
        metavar="N",
        default=MAX_CALLS,
        show_default=True,
        help="The maximum number of calls that run.",
    ),
    click.option(
        "--max-calls-per-tool",
        type=_POSITIVE,
        metavar="N",
        help="The maximum number of calls that run per tool.",
    ),
    click.option(
        "--max-seconds",
        type=click.FloatRange(0, min_open=True),
        metavar="S",
        help="The time limit of the whole run.",
    ),
    click.option(
        "--max-tokens",
        type=_POSITIVE,
        metavar="N",
        help="The maximum number of tokens (prompts and answers), as the provider counts them.",
    ),
    click.option(
        "--approve",
        type=click.Choice(POLICIES),
        default="ask",
        show_default=True,
        help="ask: ask before calls of tools that are not read-only; read-only: deny these "
        "calls; all: allow every tool; none: deny every call.",
    ),
    click.option(
        "--stream/--no-stream",
        default=True,
        help="Print the answer as it arrives, or when it is complete.",
    ),
    options.trust_option,
    options.project_option,
)


def agent_options(command: F) -> F:
    """Return a command every option of an agent."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options of an agent as they were given on the command line."""

    provider: str | None
    model: str
    script: str | None
    system: str
    names: tuple[str, ...]
    kit: str | None
    no_tools: bool
    tools_mode: ToolsMode | None
    strict: bool
    max_iterations: int
    max_calls: int
    max_calls_per_tool: int | None
    max_seconds: float | None
    max_tokens: int | None
    approve: Approve
    stream: bool
    trusted: bool
    project_dir: str | None

    def path(self) -> CallPath:
        """Open the project; raises NotTrusted before anything else is read or sent."""
        workspace = open_workspace(self.project_dir)
        path = replace(open_path(workspace, trusted=self.trusted), progress=report.note)
        path.check_trust()
        for warning in workspace.warnings:
            report.warn(warning)
        _say_denied(workspace.root)
        return path

    def llm(self, transcript: Transcript) -> LLMProvider:
        """Make the provider that was named, else the one that the conversation was had with, else
        the configuration's (`agent`).

        The model is chosen in the same order among those of that provider. Raises UsageError where
        nothing says which, or what its script is.
        """
        user = user_config.load_user_config()
        name = self.provider or transcript.provider or user.agent.get("provider", "")
        if not name:
            hint = (
                f"use --provider with one of {', '.join(provider_names())}, or set a default with "
                "`vespe config set agent.provider NAME`"
            )
            raise errors.UsageError("no model provider is configured", hint=hint)
        if name == "simulated" and self.provider is self.script is None:
            whose = (
                "this conversation was made with"
                if transcript.provider
                else "your configuration (`agent.provider`) names"
            )
            raise errors.UsageError(
                f"{whose} the provider `simulated`, which needs a script",
                hint="give --script FILE with the turns that are left, or name another provider "
                "with --provider",
            )
        if (name == "simulated") != (self.script is not None):
            raise errors.UsageError(
                "--script and --provider simulated can only be used together", hint=_SCRIPT
            )
        named = (
            (transcript.provider, transcript.model),
            (user.agent.get("provider"), user.agent.get("model", "")),
        )
        model = self.model or next(
            (model for provider, model in named if provider == name and model), ""
        )
        made: LLMProvider
        if self.script is not None:
            from vespe.features.agents.providers.simulated import SimulatedProvider

            at_once = replace(AT_ONCE, on_wait=_say_wait)
            made = SimulatedProvider(self.script, model=model, patience=at_once)
        else:
            made = provider_class(name)(model, patience=replace(PATIENCE, on_wait=_say_wait))
        if not made.model:
            own = user.agent.get("provider")
            of_other = (
                f"; `agent.model` applies only to `agent.provider` ({own or 'not set'})"
                if user.agent.get("model") and own != name
                else ""
            )
            raise errors.UsageError(
                "no model is selected",
                hint=f"--model NAME, or `vespe config set providers.{name}.model NAME`{of_other}",
            )
        return made

    def resuming(self, file: str, *, prompt: bool) -> str:
        """Return the command that goes on with the conversation in `file`; with `prompt` it has
        something to say, too.
        """
        script = () if self.script is None else ("--provider", "simulated", "--script", self.script)
        project = () if self.project_dir is None else ("--project", self.project_dir)
        mode = () if self.tools_mode is None else ("--tools-mode", self.tools_mode)
        return shlex.join(
            (
                "vespe",
                "agent",
                "run",
                *(("go on",) if prompt else ()),
                "--resume",
                file,
                *script,
                *mode,
                *project,
            )
        )

    def agent(
        self,
        path: CallPath,
        provider: LLMProvider,
        *,
        transcript: Transcript | None,
        shown: RunDisplay,
        **hooks: Any,
    ) -> Agent:
        """Make the agent, which shows what it does and asks on the terminal; raises UsageError for
        tools chosen in two ways.

        `hooks` are further fields of its AgentOptions.
        """
        names = tuple(
            name.strip() for given in self.names for name in given.split(",") if name.strip()
        )
        if sum((bool(names), self.kit is not None, self.no_tools)) > 1:
            raise errors.UsageError(
                "--tools, --kit and --no-tools each select the tools: use one of them"
            )
        chosen = AgentOptions(
            tools=() if self.no_tools else names or None,
            kit=self.kit,
            system=self.system,
            approve=self.approve,
            ask=asking.asker(shown),
            strict=self.strict,
            tools_mode=self.tools_mode or _own_mode(),
            stream=self.stream,
            limits=self.limits(),
            on_start=shown.started,
            **hooks,
        )
        path = replace(path, asker=questions.asker())
        shown.why_missing = partial(_why_denied, path)
        agent = Agent(provider, path, options=chosen, transcript=transcript, on_event=shown.event)
        if names:
            _warn_of_hidden(path, names)
        # Off for commands that live for a moment, but a conversation may be long. The tools were
        # loaded before, and stay: to look for garbage among 10,000 of them took 0.15 s of 1.0.
        gc.freeze()
        gc.enable()
        return agent

    def limits(self) -> Limits:
        """Return the bounds of one run."""
        return Limits(
            max_iterations=self.max_iterations,
            max_calls=self.max_calls,
            max_calls_per_tool=self.max_calls_per_tool,
            max_seconds=self.max_seconds,
            max_tokens=self.max_tokens,
        )


def _say_denied(root: str) -> None:
    """Name the tools that an earlier answer takes from the model, which is not asked about."""
    names = [report.one_line(one.tool) for one in policy_answers.load(root) if not one.allowed]
    if len(names) == 1:
        report.note(
            f"{names[0]} is denied by your earlier answer; `vespe agent answers --forget "
            f"{names[0]}` asks again"
        )
    elif names:
        report.note(
            f"{join_words(names, most=4)} are denied by your earlier answers; `vespe agent "
            "answers --forget TOOL` asks again"
        )


def _warn_of_hidden(path: CallPath, names: tuple[str, ...]) -> None:
    """Name the chosen tools that the model does not see, because every call of them is denied."""
    policy = policy_of(path)
    for tool in tool_sets.chosen(path.workspace, names=names, registry=path.registry):
        if policy.why_never(tool):
            report.warn(
                f"the model does not see {report.one_line(tool.name)}, because `approvals.deny` or "
                "an earlier answer of yours denies it"
            )


def _why_denied(path: CallPath, name: str) -> str:
    """Say what denies the tool that the model knows by that name, "" where nothing does. The model
    itself is not told that there is such a tool.
    """
    try:
        by = policy_of(path).denied_by(path.workspace.shown_tool(name))
    except errors.VespeError:
        return ""
    if not by:
        return ""
    shown = report.one_line(name)
    if by == "answer":
        return f"{shown} is denied by your earlier answer; `vespe agent answers` shows it"
    file = by.partition("#")[0]
    near = os.path.relpath(file)
    return f"{shown} is denied by `approvals.deny` in {file if near.startswith('..') else near}"


def _say_wait(error: errors.ProviderError, seconds: float) -> None:
    report.note(f"{report.one_line(error.message)}; trying again in {seconds:.3g} s")


def named(transcript: Transcript, provider: LLMProvider) -> Transcript:
    """Return the transcript with the names of the provider and the model that go on with it."""
    transcript.provider, transcript.model = provider.name, provider.model or transcript.model
    return transcript


def _own_mode() -> ToolsMode:
    """Return the tools mode of the user's configuration, which was checked when it was read."""
    said = user_config.load_user_config().agent.get("tools_mode", "auto")
    return cast(ToolsMode, said)
