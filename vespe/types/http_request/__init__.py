"""`http_request`: one HTTP request, made of templates.

Begin with `execution.py`; `templates.py` makes the request.
"""

from typing import TYPE_CHECKING, Any, Final, Literal

from vespe.tool_types import Executor, ToolType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vespe.models import Implementation, JsonObject, JsonValue
    from vespe.schemas.forms import DetailsForm
    from vespe.tool_types import Compiled, NewTool, Remark


class HttpRequest:
    """`http_request` as a type of tools."""

    files: tuple[tuple[str, str], ...] = ()
    runs_own_file: bool = False
    is_python: bool = False
    compiled: "Compiled | None" = None
    in_allow_types: bool = True
    network: Literal["none", "process", "own"] = "own"
    keeps_session: bool = False
    slots: tuple[str, ...] = ("path", "args")
    has_template: bool = True
    secret_keys: tuple[str, ...] = ("args",)

    def form(self) -> "DetailsForm":
        """Return what they may be."""
        from vespe.types.http_request import form

        return form.FORM

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.http_request import execution

        return execution.EXECUTOR

    def runs(self, details: "JsonObject") -> "list[JsonValue]":
        """Return the method and the URL."""
        return [details.get("entrypoint"), details.get("path")]

    def address(self, details: "JsonObject") -> tuple[str, str] | None:
        """Return the URL."""
        url = details.get("path")
        return ("/path", url) if isinstance(url, str) else None

    def effects(self, implementation: "Implementation") -> list[tuple[str, str]]:
        """Return that it sends, and for a GET that it reads what others answer."""
        found = [("sends_out", "it is an http_request")]
        if (implementation.entrypoint or "GET").upper() == "GET":
            found.append(("reads_untrusted", "it returns the answer of another machine"))
        return found

    def starts_process(self, args: "JsonObject") -> bool:
        """Say that it does not: Vespe itself sends the request."""
        return False

    def destroys(self, details: "JsonObject") -> str | None:
        """Return that it deletes, where its method says so."""
        from vespe.types.http_request import remarks

        return remarks.destroys(details)

    def lint(self, document: "JsonObject", inputs: "JsonValue") -> "Iterable[Remark]":
        """Return what is wrong with its URL and its secrets."""
        from vespe.types.http_request import remarks

        return remarks.remarks(document["implementation_details"], document.get("secrets"))

    def begin(
        self, type: str, name: str, *, given: "Mapping[str, Any]", directory: str
    ) -> "NewTool":
        """Return a new tool, from the template or from what its author has."""
        from vespe.types.http_request import template

        return template.begin(type, name, given=given)

    def programs(self, implementation: "Implementation", directory: str) -> tuple[str, ...]:
        """Return none."""
        return ()


HTTP_REQUEST: Final[ToolType] = HttpRequest()
