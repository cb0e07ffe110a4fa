"""`http_request`: one HTTP request, made of templates.

Begin with `execution.py`; `templates.py` makes the request.
"""

from typing import Final

from vespe.tool_types import Executor, ToolType


class HttpRequest:
    """`http_request` as a type of tools."""

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.http_request import execution

        return execution.EXECUTOR


HTTP_REQUEST: Final[ToolType] = HttpRequest()
