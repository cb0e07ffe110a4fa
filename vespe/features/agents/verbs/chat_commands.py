"""The commands of a chat: what begins with a slash."""

import os
from collections.abc import Callable
from typing import Final

from vespe import errors
from vespe.cli import report
from vespe.cli.signature import signature
from vespe.documents.near import suggest
from vespe.features.agents import transcripts, waiting_calls
from vespe.features.agents.agent import Agent
from vespe.features.agents.transcripts import Transcript

_WIDTH: Final = 57


def obey(line: str, agent: Agent) -> bool:
    """Do what a line that begins with a slash says; gives whether the session ends. What is wrong
    is said, and the session goes on.
    """
    name, _, argument = line[1:].partition(" ")
    if name in ("quit", "exit"):
        return True
    if name not in COMMANDS:
        report.error(f"there is no command /{report.one_line(name)}", "/help lists them")
        return False
    try:
        COMMANDS[name][1](agent, argument.strip())
    except errors.VespeError as error:
        report.error(str(error), error.hint)
    return False


def taken_up(path: str) -> Transcript:
    """Read a conversation for a chat, which runs none of the calls that wait in it: the file would
    not know that they ran.
    """
    loaded = transcripts.load(path)
    if waiting := loaded.open:
        waiting_calls.deny_waiting(
            loaded, waiting, reason="not run: the conversation went on in a chat"
        )
        report.note(
            f"{report.count(len(waiting), 'call')} that waited: not run here; "
            f"`vespe agent calls {path} approve` runs them there"
        )
    return loaded


def _help(agent: Agent, argument: str) -> None:
    for name, (said, _) in COMMANDS.items():
        report.say(f"/{name:<12} {said}")
    report.say("/quit         end the session (Ctrl-D too)")


def _tools(agent: Agent, argument: str) -> None:
    if argument:
        return _one_tool(agent, argument)
    said = {tool.name: report.one_line(tool.description) for tool in agent.tools.values()}
    for name, text in said.items():
        report.say(f"{name:<20} {text if len(text) <= _WIDTH else text[:_WIDTH] + '…'}")
    if not said:
        report.say("the model is shown no tools")
    elif any(len(text) > _WIDTH for text in said.values()):
        report.say("/tools NAME shows one completely")
    return None


def _one_tool(agent: Agent, name: str) -> None:
    tool = agent.tools.get(name)
    if tool is None:
        raise errors.ToolNotFound(name, hint=suggest(name, agent.tools) or "/tools lists them")
    report.say(f"{tool.name}({signature(tool.input_schema)})\n{tool.description}")


def _undo(agent: Agent, argument: str) -> None:
    report.say(
        "your last message and everything after it were removed"
        if agent.transcript.undo()
        else "there is nothing to undo"
    )


def _save(agent: Agent, argument: str) -> None:
    path = _named(argument, "save")
    if os.path.lexists(path):
        raise errors.UsageError(f"{path} already exists", hint="choose another file")
    transcripts.save(agent.transcript, path)
    report.say(f"saved {report.count(len(agent.transcript.messages), 'message')} in {path}")


def _load(agent: Agent, argument: str) -> None:
    loaded = taken_up(_named(argument, "load"))
    loaded.model = agent.transcript.model
    agent.transcript = loaded
    report.say(f"loaded {report.count(len(loaded.messages), 'message')}")


def _named(argument: str, command: str) -> str:
    if not argument:
        raise errors.UsageError(f"say which file: /{command} FILE")
    return os.path.expanduser(argument)


COMMANDS: Final[dict[str, tuple[str, Callable[[Agent, str], None]]]] = {
    "help": ("list the commands", _help),
    "tools": ("list the tools that the model sees, or show one: /tools NAME", _tools),
    "undo": ("remove your last message and everything after it", _undo),
    "save": ("save the conversation to a new file: /save FILE", _save),
    "load": ("continue a conversation from a file: /load FILE", _load),
}
"""What each command says of itself, and what does it."""
