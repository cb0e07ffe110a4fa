"""The public names as a user's type checker sees them; mypy reads this file, nothing runs it."""

from typing import assert_type

from vespe import (
    Agent,
    AgentOptions,
    ClaudeStreamingProcessor,
    EventSystem,
    Failure,
    GptStreamingProcessor,
    LLMProvider,
    OllamaStreamingProcessor,
    Outcome,
    Project,
    Resolution,
    RunResult,
    StreamEvent,
    Tool,
    ToolImplementation,
    ToolRegistry,
    execute_tool,
)
from vespe import NothingOfThatName as wrong_name  # type: ignore[attr-defined]  # an unneeded ignore is an error
from vespe.adapters.streams.base import StreamingProcessor


class Adder:
    name = "add"

    def execute(self, inputs: dict[str, int]) -> int:
        return inputs["a"] + inputs["b"]


def ask(provider: LLMProvider) -> None:
    agent = Agent(provider, options=AgentOptions(approve="read-only"), events=EventSystem())
    assert_type(agent.run("go"), RunResult)


def add(a: int, b: int) -> int:
    return a + b


def use(registry: ToolRegistry) -> None:
    assert_type(registry.register(Adder()), Adder)
    assert_type(registry.register(add)(1, 2), int)
    assert wrong_name
    assert_type(registry.get("add"), ToolImplementation)
    project = Project(registry=registry)
    assert_type(project.create_tool("x", type="python_script"), Tool)
    assert_type(project.resolve_tool("x"), Resolution)
    assert_type(project.list_available_tools(), list[Tool])
    outcome = project.execute_tool("x", {"a": 1})
    assert_type(outcome, Outcome)
    assert_type(outcome.error, Failure | None)
    assert_type(execute_tool("x", b"{}"), Outcome)


def gather(pieces: list[bytes]) -> None:
    processors: list[StreamingProcessor] = [
        GptStreamingProcessor(),
        ClaudeStreamingProcessor(),
        OllamaStreamingProcessor(),
    ]
    for piece in pieces:
        assert_type(processors[0].feed(piece), list[StreamEvent])
