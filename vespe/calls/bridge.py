"""Three tools in the place of many: a model searches, reads and calls what it was not told of, and
the list of tools never changes.
"""

import contextlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from vespe import errors
from vespe.calls.arguments import checked_inputs
from vespe.calls.outcomes import refused
from vespe.errors import ToolNotFound
from vespe.lazy import difflib
from vespe.models import JsonObject, JsonValue, Outcome, Tool
from vespe.schemas import validator
from vespe.tools import search

SEARCH, DESCRIBE, CALL = "search_tools", "describe_tool", "call_tool"
_FOUND: Final = 5
_READS: Final = {"readOnlyHint": True, "openWorldHint": False}
_NAME: Final = {"type": "string", "description": f"The tool's name, as returned by {SEARCH}."}


def _own(
    name: str,
    description: str,
    properties: JsonObject,
    *,
    required: str,
    annotations: JsonObject | None = None,
) -> Tool:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [required],
        "additionalProperties": False,
    }
    return Tool(
        uid="",
        name=name,
        description=description,
        input_schema=schema,
        annotations=annotations or {},
    )


OWN: Final = {
    tool.name: tool
    for tool in (
        _own(
            SEARCH,
            "Find tools by what you want to do. There are many more tools than those listed: "
            "search before you say that something cannot be done. Returns names, descriptions "
            f"and input schemas; {CALL} calls a tool that you found.",
            {
                "query": {
                    "type": "string",
                    "description": "What the tool should do, in a few words.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 20,
                    "default": _FOUND,
                    "description": "How many tools to return.",
                },
            },
            required="query",
            annotations=_READS,
        ),
        _own(
            DESCRIBE,
            "Return everything that is known about one tool: its schemas, annotations and "
            "examples.",
            {"name": _NAME},
            required="name",
            annotations=_READS,
        ),
        _own(
            CALL,
            f"Call a tool that {SEARCH} found.",
            {
                "name": _NAME,
                "arguments": {
                    "type": "object",
                    "description": "The arguments, as the tool's input schema describes them.",
                    "default": {},
                },
            },
            required="name",
        ),
    )
}


class Bridge:
    """Searches, describes and finds the tools of one set, by the names that models know; `always`
    are declared beside the three.
    """

    own: Mapping[str, Tool] = OWN
    """The tools that stand in the place of the others."""
    program = ""
    """The name of the one among them that runs programs, "" where there is none."""
    home: Any = None
    """The call path on which programs are logged."""

    def __init__(self, tools: Mapping[str, Tool], always: frozenset[str] = frozenset()) -> None:
        self.tools = tools
        self.declared = {
            name: tools[name] for name in tools if name in always and name not in OWN
        } | OWN

    @cached_property
    def _index(self) -> search.ToolIndex:
        return search.ToolIndex([search.document_of(tool) for tool in self.tools.values()])

    def inner(self, name: str, arguments: JsonObject | str) -> tuple[str, JsonObject]:
        """Return the name and arguments of the call that a `call_tool` is about; of any other, and
        a malformed one, its own name.
        """
        if name == CALL and CALL in self.own:
            with contextlib.suppress(errors.VespeError):
                given = checked_inputs(OWN[CALL], arguments)
                return given["name"], given["arguments"]
        return name, {}

    def answer(self, name: str, arguments: JsonObject | str) -> Outcome:
        """Answer a call of one of the three that is not about another tool's call; failures are the
        Outcome's.
        """
        try:
            inputs = checked_inputs(self.own[name], arguments)
            return Outcome(tool=name, uid=None, result=self._answers[name](self, inputs))
        except errors.VespeError as error:
            return refused(self.own[name], error)

    def unknown(self, name: str) -> Outcome:
        """Return the Outcome of a call of a tool that is not here."""
        return self.answer(DESCRIBE, {"name": name})

    def one(self, name: str) -> Tool:
        """Return the tool that a model knows by a name; raises ToolNotFound, with the nearest
        names.
        """
        if name in self.tools:
            return self.tools[name]
        raise ToolNotFound(
            name[:80],
            close=difflib.get_close_matches(name[:64], self.tools, n=3),
            hint=f"{SEARCH} finds tools by what they do",
        )

    @property
    def _answers(self) -> "Mapping[str, Callable[[Bridge, JsonObject], Any]]":
        return _ANSWERS

    def brief(self, tool: Tool) -> JsonObject:
        """Return what a search tells of a tool."""
        return _brief(tool)

    def _search(self, inputs: JsonObject) -> JsonValue:
        names = list(self.tools)
        found = [
            self.tools[names[match.number]]
            for match in self._index.find(inputs["query"], limit=inputs["limit"])
        ]
        if not found:
            return {"tools": [], "note": "no tool has any of these words: try others"}
        return {"tools": [self.brief(tool) for tool in found]}

    def _describe(self, inputs: JsonObject) -> JsonValue:
        tool = self.one(inputs["name"])
        more = {
            "output_schema": tool.output_schema,
            "annotations": tool.annotations,
            "examples": list(tool.examples) if not tool.behind else [],
        }
        return self.brief(tool) | {key: value for key, value in more.items() if value}


_ANSWERS: Final[dict[str, Callable[[Bridge, JsonObject], Any]]] = {
    SEARCH: Bridge._search,
    DESCRIBE: Bridge._describe,
    CALL: Bridge._describe,
}


def _brief(tool: Tool) -> JsonObject:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": validator.closed_schema(tool.input_schema),
    }
