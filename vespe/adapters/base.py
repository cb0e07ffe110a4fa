"""The protocol of the model APIs' shapes: pure data in and out, no I/O."""

from typing import Protocol

from vespe.models import JsonObject, Tool


class ToolShape(Protocol):
    """How one model API is told about a tool."""

    name: str

    def definition(self, tool: Tool) -> JsonObject:
        """Give the tool as this API's requests carry it.

        The schema that a model sees says that unknown arguments are refused wherever Vespe will refuse them.
        """
        ...
