"""The protocols of the model APIs: how one is told about a tool, and how its calls and results are
read and written. No I/O.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from vespe.models import Call, JsonObject, JsonValue, Tool


class ToolShape(Protocol):
    """How one model API is told about a tool."""

    name: str

    def definition(self, tool: Tool) -> JsonObject:
        """Return the tool as this API's requests carry it.

        The schema that a model sees says that unknown arguments are refused wherever Vespe will
        refuse them. What config.json keeps for this API under `api_fields` comes along.
        """
        ...

    def read(self, definition: JsonObject) -> Tool:
        """Return the tool of a definition in this shape: no uid and no implementation; raises
        InvalidDocument.
        """
        ...


class ToolAdapter(Protocol):
    """One tool at one model API: what the model is shown, the calls that it answers with, and what
    it is told of them.

    `name` is the API's, as in the table of adapters.
    """

    @property
    def name(self) -> str:
        """The API's name."""
        ...

    @property
    def tool(self) -> Tool:
        """The tool."""
        ...

    def generate_tool_description(self) -> JsonValue:
        """Return the tool as this API's requests carry it: an object, or text for a model without
        native tools.
        """
        ...

    def parse_llm_response(self, text_or_message: JsonValue) -> Sequence[Call]:
        """Return the calls of this tool in a model's answer, in order: a message, a whole response,
        or either as JSON text.

        Arguments that are not JSON stay as they came and fail when they are run. Raises
        ParsingError for text that is not what this API answers with, InvalidToolCall for a call
        without a name, or where the only calls are of other tools.
        """
        ...

    def execute_tool(self, call: Call, registry: Any) -> JsonValue:
        """Check a call and run what a ToolRegistry has registered under the tool's name; gives the
        result.

        Raises InvalidToolCall (another tool's), ParsingError and InvalidArguments, all of which the
        model can mend, ToolImplementationNotFound and ToolExecutionError.
        """
        ...

    def format_tool_output(self, output: object, *, call_id: str = "") -> JsonValue:
        """Return what the model is sent: `output` is a result, an Outcome or an error of Vespe's;
        errors are told as such.
        """
        ...
