"""The public names as a user's type checker sees them; mypy reads this file, nothing runs it."""

from typing import assert_type

from vespe import Failure, Outcome, Project, Resolution, Tool, ToolImplementation, ToolRegistry, execute_tool


class Adder:
    name = "add"

    def execute(self, inputs: dict[str, int]) -> int:
        return inputs["a"] + inputs["b"]


def use(registry: ToolRegistry) -> None:
    registry.register(Adder())
    assert_type(registry.get("add"), ToolImplementation)
    project = Project(registry=registry)
    assert_type(project.create_tool("x", type="python_script"), Tool)
    assert_type(project.resolve_tool("x"), Resolution)
    assert_type(project.list_available_tools(), list[Tool])
    outcome = project.execute_tool("x", {"a": 1})
    assert_type(outcome, Outcome)
    assert_type(outcome.error, Failure | None)
    assert_type(execute_tool("x", b"{}"), Outcome)
