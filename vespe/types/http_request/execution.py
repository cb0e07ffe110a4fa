"""Tools that are one HTTP request: sent to the one host that their config.json names, and its
answer read.
"""

import time
from dataclasses import replace
from typing import Any, Final, NoReturn

from vespe import defaults
from vespe.calls.secrets import redact
from vespe.documents import pointers, strict_json
from vespe.errors import InvalidDocument, InvalidOutput, InvalidTool, ToolExecutionError
from vespe.http import bodies, client
from vespe.models import Execution, JsonObject, JsonValue, Tool
from vespe.tool_types import Context, Executor
from vespe.types.http_request import templates as http_templates

_SHOWN_HEADERS: Final = ("content-type", "location", "retry-after", "x-request-id")
_UNAUTHORIZED: Final = 401
_MESSAGE_EXCERPT, _DETAILS_EXCERPT = 300, 4000


class HttpRequest:
    """Runs http_request tools (design, section 2.1): one exchange over connections that the process
    keeps.
    """

    def plan(self, tool: Tool, inputs: JsonObject, context: Context) -> JsonObject:
        """Say what would be sent: `method`, `url`, `headers`, `body` (as text), with `${env:NAME}`
        for each secret.
        """
        request = http_templates.build(tool, inputs, secrets=None)
        _Settings(tool)
        shown: JsonObject = {
            "method": request.method,
            "url": request.url,
            "headers": dict(request.headers),
        }
        return (
            shown
            if request.body is None
            else shown | {"body": request.body.decode("utf-8", "replace")}
        )

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Send the request and read its answer as `response` says; a status that is no success
        raises ToolExecutionError.
        """
        settings = _Settings(tool)
        until = time.monotonic() + context.timeout_s
        response = _send(tool, inputs, context, settings)
        if response.status == _UNAUTHORIZED and not settings.succeeded(_UNAUTHORIZED):
            # The server did nothing: with a secret that has changed meanwhile it may be sent again.
            renewed = context.renew and context.renew(context.secrets)
            if renewed and (left := until - time.monotonic()) > 0:
                context = replace(context, secrets=renewed, timeout_s=left)
                response = _send(tool, inputs, context, settings)
        text, repaired = bodies.decode(response.body, response.header("content-type") or "")
        if not settings.succeeded(response.status):
            raise _failure(response, text, context)
        result = _result(response, text, settings.response)
        return Execution(result=result, notes=(repaired,) if repaired else ())


EXECUTOR: Final[Executor] = HttpRequest()


class _Settings:
    """The part of `args` that is about the answer."""

    def __init__(self, tool: Tool) -> None:
        args = tool.implementation.args if tool.implementation else {}
        self._tool = tool
        self.response: str | None = args.get("response")
        self.redirects: int = args.get("redirects", 0)
        self._statuses: Any = args.get("success_statuses")
        if not (
            self.response in (None, "", "json", "text")
            or (isinstance(self.response, str) and _is_pointer(self.response))
        ):
            self._invalid("response", 'must be "json", "text" or a JSON Pointer such as "/data/0"')
        if not _is_whole(self.redirects) or not 0 <= self.redirects <= client.MAX_REDIRECTS:
            self._invalid("redirects", f"must be a number from 0 to {client.MAX_REDIRECTS}")
        if self._statuses is not None and not (
            isinstance(self._statuses, list) and all(map(_is_whole, self._statuses))
        ):
            self._invalid("success_statuses", "must be a list of statuses, such as [200, 404]")

    def succeeded(self, status: int) -> bool:
        return 200 <= status <= 299 if self._statuses is None else status in self._statuses

    def _invalid(self, key: str, problem: str) -> NoReturn:
        raise InvalidTool(
            self._tool.uid,
            [f"implementation_details.args.{key} {problem}"],
            path=self._tool.directory or "",
        )


def _send(tool: Tool, inputs: JsonObject, context: Context, settings: _Settings) -> client.Response:
    request = http_templates.build(tool, inputs, secrets=context.secrets)
    return client.exchange(
        replace(request, hosts=tool.allowed_hosts),
        timeout_s=context.timeout_s,
        max_bytes=defaults.LARGER_CAP_BYTES,
        allow_hosts=context.allow_hosts,
        redirects=settings.redirects,
        cancel=context.cancel,
    )


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_pointer(text: str) -> bool:
    try:
        pointers.steps_of(text)
    except ValueError:
        return False
    return True


def _result(response: client.Response, text: str, expected: str | None) -> JsonValue:
    """Read the answer: as text, as JSON, or what a pointer finds in it; where the tool does not
    say, by its Content-Type.
    """
    media_type = (response.header("content-type") or "").partition(";")[0].strip().lower()
    if expected == "text" or (expected is None and not media_type.endswith(("/json", "+json"))):
        return text
    if not text.strip() and not (expected or "").startswith("/"):
        return None
    try:
        document = strict_json.parse_json(text, limit=defaults.LARGER_CAP_BYTES)
    except InvalidDocument as error:
        place = f" (line {error.line})" if error.line else ""
        raise InvalidOutput(f"the response of {_host(response)} {error.reason}{place}") from None
    try:
        return pointers.resolve_pointer(
            document, "" if expected in (None, "json") else str(expected)
        )
    except LookupError:
        raise InvalidOutput(
            f"the response of {_host(response)} has nothing at {expected}"
        ) from None


def _failure(response: client.Response, text: str, context: Context) -> ToolExecutionError:
    # Before it is cut, or a secret that the server echoes could stand cut in two, and so unseen.
    whole = str(redact(text, tuple(context.secrets.values())))
    excerpt = _cut(" ".join(whole.split()), _MESSAGE_EXCERPT)
    headers = {name: value for name, value in response.headers if name in _SHOWN_HEADERS}
    return ToolExecutionError(
        f"{_host(response)} answered with status {response.status}"
        + (f": {excerpt}" if excerpt else ""),
        details={
            "status": response.status,
            "body": _cut(whole, _DETAILS_EXCERPT),
            "headers": headers,
        },
    )


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… (cut by vespe: {len(text)} characters)"


def _host(response: client.Response) -> str:
    return response.url.split("/")[2]
