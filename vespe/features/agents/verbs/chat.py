"""`vespe agent chat`: a conversation line by line with a model that uses the project's tools."""

from typing import Any

import click

from vespe import errors
from vespe.cli import report
from vespe.features.agents import waiting_calls
from vespe.features.agents.agent import Agent
from vespe.features.agents.loop import DONE
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.verbs import chat_commands, chat_lines, setup
from vespe.features.agents.verbs.shown import RunDisplay
from vespe.processes.signals import Terminated, go_on


@click.command(
    "chat", epilog="Example: vespe agent chat --provider anthropic --model claude-sonnet-4-5"
)
@setup.agent_options
@click.option("--resume", metavar="FILE", help="Start with this conversation.")
def command(resume: str | None, **given: Any) -> None:
    """Chat with a model that can call the project's tools.

    /help lists the commands. Ctrl-C ends a turn, not the session: running calls are stopped, and
    calls that have not begun are answered as not run. Ctrl-D ends the session.
    """
    wanted = setup.Wanted(**given)
    path = wanted.path()
    transcript = chat_commands.taken_up(resume) if resume is not None else Transcript()
    provider = wanted.llm(transcript)
    shown = RunDisplay()
    agent = wanted.agent(path, provider, transcript=setup.named(transcript, provider), shown=shown)
    who = (
        provider.name
        if provider.model in ("", provider.name)
        else f"{provider.model} at {provider.name}"
    )
    report.note(
        f"{who}, {report.count(len(agent.tools), 'tool')}; /help lists the commands, Ctrl-D ends"
    )
    try:
        _session(agent, shown)
    finally:
        provider.close()
        agent.close()


def _session(agent: Agent, shown: RunDisplay) -> None:
    interrupted = over = False
    while not over:
        # Ctrl-C can come at any step, a second one too: whatever it ends, the session goes on from
        # here.
        try:
            if interrupted:
                report.note("interrupted; the session goes on")
            interrupted = False
            over = _step(agent, shown)
        except KeyboardInterrupt as interruption:
            if isinstance(interruption, Terminated):
                raise
            interrupted = True
            go_on()


def _step(agent: Agent, shown: RunDisplay) -> bool:
    """Read one line and do what it says; gives whether the session is over."""
    line = chat_lines.next_line()
    if line is None:
        return True
    if line.startswith("/"):
        return chat_commands.obey(line, agent)
    _turn(agent, line, shown)
    return False


def _turn(agent: Agent, line: str, shown: RunDisplay) -> None:
    _leave_no_calls(agent)
    try:
        _say(agent, line)
    except errors.VespeError as error:
        report.error(str(error), error.hint)
    finally:
        shown.end()
        _leave_no_calls(agent)


def _leave_no_calls(agent: Agent) -> None:
    waiting_calls.deny_waiting(
        agent.transcript, agent.transcript.open, reason="not run: the user ended the turn"
    )


def _say(agent: Agent, line: str) -> None:
    before = len(agent.transcript.messages)
    try:
        result = agent.run(line)
    except errors.VespeError:
        if (
            len(agent.transcript.messages) <= before + 2
            and agent.transcript.messages[-1].get("role") == "user"
        ):
            agent.transcript.undo()
            report.note("your last message was removed; enter it again")
        raise
    if result.stop_reason != DONE:
        report.warn(f"the turn was stopped: {result.stop_reason}")
