"""A recording held against the project as it is now: every request that would be another one, and
in what.
"""

from collections.abc import Iterator
from typing import Any

from vespe.calls.path import CallPath
from vespe.errors import VespeError
from vespe.features.agents.agent import Agent, AgentOptions
from vespe.features.agents.recording_file import Difference, differences
from vespe.features.agents.recordings import ReplayProvider
from vespe.features.agents.verbs.recording import RecordedCalls
from vespe.features.inspector import conversations
from vespe.features.inspector.shown_talk import text_in
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDifference:
    """What is another in one request: `turn` counts from 1, `tool` is the one whose definition it
    is, "" where it is none's.
    """

    turn: int
    tool: str
    difference: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What came of a replay: its differences, how many turns it came through, and why it did not
    come through all of them.
    """

    differences: tuple[TurnDifference, ...]
    turns: int
    recorded: int
    stopped: str


class _Lenient(ReplayProvider):
    """Gives the recorded answers whatever is asked, and notes what is asked in another way than was
    recorded.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.noted: list[TurnDifference] = []
        self.given = 0

    def requests(self) -> list[JsonObject]:
        """Return the request of each recorded turn."""
        return [turn["request"] for turn in self._document["turns"]]

    def _next(self, payload: JsonObject) -> JsonObject:
        recorded = self._document["turns"]
        if self._turn < len(recorded):
            self.noted += _differing(recorded[self._turn]["request"], payload, turn=self._turn + 1)
            self.given = self._turn + 1
            payload = recorded[self._turn]["request"]
        return super()._next(payload)


def replayed(path: CallPath, file: str) -> Replayed:
    """Replay a recording with the project's tools as they are now; nothing is sent, and no tool
    runs. Raises NotTrusted.
    """
    provider = _Lenient(file)
    requests = provider.requests()
    if not requests:
        return Replayed(differences=(), turns=0, recorded=0, stopped="")
    shown = set(conversations.tool_names(requests[0]))
    workspace = path.now().workspace
    here = [name for name in workspace.shown().tools if name in shown]
    options = AgentOptions(
        tools=here,
        system=_system(requests[0]),
        stream=bool(requests[0].get("stream")),
        approve="all",  # what would be asked about is in the recording, with what was answered
        known=RecordedCalls(provider),
    )
    agent, stopped = Agent(provider, path, options=options), ""
    try:
        for prompt in _prompts(requests[-1]):
            if not provider.is_over:
                agent.run(prompt)
    except VespeError as error:
        stopped = str(error)
    finally:
        agent.close()
    return Replayed(
        differences=tuple(provider.noted),
        turns=provider.given,
        recorded=len(requests),
        stopped=stopped,
    )


def _system(request: JsonObject) -> str:
    if request.get("system"):
        return text_in(request["system"])
    first = request["messages"][0] if request["messages"] else {}
    return (
        text_in(first.get("content"))
        if isinstance(first, dict) and first.get("role") in ("system", "developer")
        else ""
    )


def _prompts(request: JsonObject) -> Iterator[str]:
    for message in request["messages"]:
        if (
            isinstance(message, dict)
            and message.get("role") == "user"
            and not conversations.is_result(message)
        ):
            yield text_in(message.get("content"))


def _differing(recorded: JsonObject, now: JsonObject, *, turn: int) -> Iterator[TurnDifference]:
    """Compare two requests; definitions are compared by their names, so that one more does not make
    all others differ.
    """
    sides: list[dict[str, JsonValue]] = [
        {key: value for key, value in request.items() if key != "tools"}
        for request in (recorded, now)
    ]
    yield from (
        TurnDifference(turn=turn, tool="", difference=each)
        for each in differences(sides[0], sides[1], masked=True)
    )
    before, after = (_by_name(request) for request in (recorded, now))
    for name in dict.fromkeys([*before, *after]):
        old: dict[str, Any] = {"tools": before[name]} if name in before else {}
        new: dict[str, Any] = {"tools": after[name]} if name in after else {}
        yield from (
            TurnDifference(turn=turn, tool=name, difference=each)
            for each in differences(old, new, masked=True)
        )


def _by_name(request: JsonObject) -> dict[str, JsonValue]:
    tools = request.get("tools")
    return (
        {conversations.tool_name(tool): tool for tool in tools} if isinstance(tools, list) else {}
    )
