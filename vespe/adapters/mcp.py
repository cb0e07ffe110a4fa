"""The Model Context Protocol: entries of `tools/list`."""

from vespe import schemas
from vespe.models import JsonObject, Tool


class McpShape:
    """Tools as an MCP server lists them (specification 2025-06-18 and later, `Tool`)."""

    name = "mcp"

    def definition(self, tool: Tool) -> JsonObject:
        """Give `{"name", "description", "inputSchema"}`, with `title`, `outputSchema` and `annotations` where the tool has them.

        An output schema is listed only where its root is an object, the one kind that structured content can be.
        """
        document: JsonObject = {"name": tool.name, "description": tool.description, "inputSchema": schemas.closed_schema(tool.input_schema)}
        if isinstance(title := tool.annotations.get("title"), str):
            document["title"] = title
        if tool.output_schema is not None and tool.output_schema.get("type") == "object":
            document["outputSchema"] = tool.output_schema
        if tool.annotations:
            document["annotations"] = dict(tool.annotations)
        return document
