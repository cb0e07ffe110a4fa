"""Tools for programs in tests, and calls that answer at once and are written down."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vespe.features.programs import checking
from vespe.features.programs.running import InnerCall, ProgramRun
from vespe.models import Failure, Outcome, Tool

TEXT = {"type": "string"}


def made(name: str, *, reads: bool = False, output: Any = None, **properties: Any) -> Tool:
    """Return a tool that needs these arguments."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
    return Tool(
        uid="",
        name=name,
        description=f"{name}.",
        input_schema=schema,
        output_schema=output,
        annotations={"readOnlyHint": True} if reads else {},
    )


TOOLS = {
    tool.name: tool
    for tool in (
        made("read_file", reads=True, output=TEXT, path=TEXT),
        made("write-file", path=TEXT, content=TEXT),
        made("list", path=TEXT),
        made("count", n={"type": "integer"}),
        made("measure", n={"type": "number"}),
    )
}


def answered(call: InnerCall) -> Outcome:
    """Return what the tools of this toolbox say."""
    value: Any = call.arguments
    if call.tool.name == "read_file":
        value = f"text of {call.arguments['path']}"
    return Outcome(tool=call.tool.name, uid=None, result=value)


@dataclass
class Calls:
    """Answers calls, and has them in the groups in which they came."""

    answer: Callable[[InnerCall], Outcome] = answered
    groups: list[list[InnerCall]] = field(default_factory=list)

    def run(self, calls: Sequence[InnerCall]) -> Sequence[Outcome]:
        self.groups.append([*calls])
        return [self.answer(call) for call in calls]

    @property
    def said(self) -> list[tuple[str, Any]]:
        """The tools that were called, with their arguments."""
        return [(call.tool.name, call.arguments) for group in self.groups for call in group]


def run(code: str, calls: Calls | None = None, **options: Any) -> Outcome:
    """Check a program over TOOLS and run it."""
    checked = checking.check_program(code, TOOLS, setting="auto")
    return ProgramRun(
        checked=checked, calls=calls or Calls(), setting="auto", call_id="p", **options
    ).run()


def refusing(code: str) -> Callable[[InnerCall], Outcome]:
    """Return what answers every call with an error of that code."""
    return lambda call: Outcome(
        tool=call.tool.name, uid=None, error=Failure(code=code, message=f"{code} it was")
    )
