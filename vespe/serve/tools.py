"""The tools that a project serves: what is shown, as ready-made lists, and calls of them through one call path."""

import threading
from collections.abc import Callable

from vespe.adapters.mcp import McpShape
from vespe.calls import CallPath
from vespe.models import JsonObject, Tool
from vespe.outcomes import Call, Outcome
from vespe.registry import ToolRegistry
from vespe.serve import dialects, messages
from vespe.workspace import Workspace


class ServedTools:
    """The tools of one project, for as many clients as there are; safe to share between threads."""

    def __init__(self, workspace: Workspace, *, registry: ToolRegistry | None = None, trusted: bool = False) -> None:
        self._path = CallPath(workspace=workspace, registry=registry or ToolRegistry(), trusted=trusted)
        self._tools: dict[str, Tool] = {str(e.name): workspace.load(e) for e in workspace.available()}

    def page(self, revision: str, cursor: str | None) -> JsonObject:
        """Give one page of `tools/list`; raises ProtocolError for a cursor that is none."""
        if cursor is not None:
            raise messages.ProtocolError(messages.INVALID_PARAMS, "there is no such cursor")
        shape = McpShape()
        entries = [dialects.tool_entry(shape.definition(tool), tool.output_schema, revision) for tool in self._tools.values()]
        return dialects.complete({"tools": entries}, revision, cached=True)

    def resources(self, cursor: str | None) -> JsonObject:
        """Give one page of `resources/list`: each tool's description.md."""
        return {"resources": []}

    def read(self, uri: str) -> JsonObject:
        """Give the contents of one resource; raises ProtocolError where there is none."""
        raise messages.ProtocolError(messages.INVALID_PARAMS, "there is no such resource")

    def call(
        self, name: str, arguments: JsonObject, *, cancel: threading.Event | None, progress: Callable[[str], None] | None
    ) -> tuple[Outcome, JsonObject | None]:
        """Run a call of a tool that is shown; raises ToolNotFound, NotTrusted and InvalidTool where it is not."""
        tool = self._tools.get(name) or self._path.tool(name)
        return self._path.run_tool(tool, Call(tool=tool.uid, arguments=arguments), cancel=cancel), tool.output_schema
