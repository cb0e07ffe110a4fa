"""Agents for tests: a real project whose tools run in this process and note that they ran, and a
scripted model.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import write_tool
from vespe import Agent, AgentOptions, Project, ToolRegistry, Transcript
from vespe.features.agents.providers.simulated import SimulatedProvider

OBJECT = {"type": "object", "properties": {}}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
READ_ONLY = {"readOnlyHint": True}


class Bench:
    """A project with in-process tools; `ran` are their names in the order in which they began."""

    def __init__(self, root: Path) -> None:
        self.root, self.ran, self.registry = root, list[str](), ToolRegistry()
        self._lock = threading.Lock()

    def tool(
        self,
        name: str,
        body: Callable[..., Any] = lambda: "done",
        *,
        schema: Any = OBJECT,
        **extra: Any,
    ) -> None:
        """Add a tool that runs `body` with its inputs as keywords."""
        write_tool(self.root / f".vespe/tools/tool-{name}", name, schema=schema, **extra)

        def run(**inputs: Any) -> Any:
            with self._lock:
                self.ran.append(name)
            return body(**inputs)

        self.registry.register(run, name=name)

    def project(self) -> Project:
        """Open it."""
        return Project(self.root, registry=self.registry)

    def agent(
        self,
        *turns: Any,
        transcript: Transcript | None = None,
        on_event: Any = None,
        **options: Any,
    ) -> Agent:
        """Give an agent whose model says these turns: a text, or a list of calls as `call` makes
        them.
        """
        provider = SimulatedProvider({"turns": [turn_of(turn) for turn in turns]})
        chosen = AgentOptions(**{"approve": "all", **options})
        return Agent(
            provider, self.project(), options=chosen, transcript=transcript, on_event=on_event
        )


def turn_of(said: Any) -> Any:
    if isinstance(said, str):
        return {"text": said}
    return {"tool_calls": said} if isinstance(said, list) else said


def call(name: str, arguments: Any = None, **extra: Any) -> dict[str, Any]:
    """Give one call of a scripted turn."""
    return {"name": name, "arguments": {} if arguments is None else arguments, **extra}


def results(messages: list[Any]) -> list[tuple[str, str]]:
    """Give the tool messages of a conversation as (id, text)."""
    return [
        (message["tool_call_id"], message["content"])
        for message in messages
        if message["role"] == "tool"
    ]


def assert_consistent(messages: list[Any]) -> None:
    """Check that every call has exactly one result, in order, directly behind its turn; calls of
    the last turn may wait.
    """
    for index, message in enumerate(messages):
        if message["role"] != "assistant" or not message.get("tool_calls"):
            continue
        wanted = [one["id"] for one in message["tool_calls"]]
        behind = []
        for later in messages[index + 1 :]:
            if later["role"] != "tool":
                break
            behind.append(later["tool_call_id"])
        last = index + 1 + len(behind) == len(messages)
        assert behind == wanted or (last and [one for one in wanted if one in behind] == behind)
