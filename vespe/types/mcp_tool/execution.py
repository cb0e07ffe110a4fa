"""A tool of an MCP server: called in a session with it, if its definition is still the one that was
approved.
"""

import functools
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from vespe.calls import tracing
from vespe.errors import InvalidTool, NeedsInput, ToolExecutionError
from vespe.models import Execution, JsonObject, JsonValue, Tool
from vespe.tool_types import Context, Executor
from vespe.tools import templates
from vespe.types.mcp_tool import exchange, logins, older_questions, skill_reading
from vespe.types.mcp_tool.exchange import Server, SessionAnswer, Surroundings

_SHOWN: Final = ("command", "env", "url", "headers", "digest")


class McpTool:
    """`mcp_tool`: the tool `entrypoint` of the server that `args` names: `command` and `env`, or
    `url` and `headers`; `digest` pins it.
    """

    def plan(self, tool: Tool, inputs: JsonObject, context: Context) -> JsonObject:
        """Return `command` and `env`, or `url` and `headers`, the `digest`, the tool's `entrypoint`
        at the server and its `arguments`.

        Secrets stand as `${env:NAME}`.
        """
        args = _args(tool)
        return {key: args[key] for key in _SHOWN if key in args} | {
            "entrypoint": _entrypoint(tool),
            "arguments": inputs,
        }

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Call the tool; what the server writes to stderr is the log.

        Raises MissingExtra, Refused where the server's definition is not the approved one,
        ToolExecutionError (the server failed, or the tool says `isError`), AddressRefused,
        InvalidOutput, OutputTooLarge, TimedOut, Interrupted, SessionEnded, NeedsInput (it asks, and
        nobody can be asked).
        """
        until, token = time.monotonic() + context.timeout_s, ""
        authorize = _authorized(tool, context)
        try:
            token = authorize("") if authorize else ""
            try:
                answer = _asked(tool, inputs, context, token)
            except exchange.Unauthorized:
                # The call was not sent: with a secret that has changed meanwhile it may be.
                renewed = context.renew and context.renew(context.secrets)
                again = authorize(token) if authorize and token else ""
                if not (renewed or again) or (left := until - time.monotonic()) <= 0:
                    raise
                token = again or token
                now = replace(context, secrets=renewed or context.secrets, timeout_s=left)
                answer = _asked(tool, inputs, now, token)
            return Execution(result=_given(tool, inputs, answer), logs=answer.logs)
        except exchange.AccessRefused as error:
            if authorize is None:
                raise
            raise logins.explained(error, tool.kit_id or "", token=token) from None
        except exchange.CouldNotAsk as error:
            if not _args(tool).get("skills"):
                if context.questions is None:
                    raise _unasked(tool, error) from None
                _use_handshake(tool, context, error)
            raise
        except ToolExecutionError as error:
            if tool.kit_id:
                error.details["widened"] = {
                    "write": f"vespe kit add-mcp {tool.kit_id} --update --write",
                    "secret": f"its server gets a secret by `--secret NAME` of `vespe kit add-mcp "
                    f"{tool.kit_id}`, once `vespe kit remove {tool.kit_id}` has removed it",
                }
            raise


EXECUTOR: Final[Executor] = McpTool()


def _authorized(tool: Tool, context: Context) -> Callable[[str], str] | None:
    """Return what gives the token of the login to the tool's server, and another one for one that
    was refused; None where the server is reached without a login.
    """
    args = _args(tool)
    if context.authorize is None or not logins.takes_login(
        args.get("url"), args.get("headers", {})
    ):
        return None
    return functools.partial(context.authorize, args["url"])


def _asked(tool: Tool, inputs: JsonObject, context: Context, token: str) -> SessionAnswer:
    """Make the call: with a handshake where the server needs one to ask, and without one from then
    on where the server refuses it.
    """
    until = time.monotonic() + context.timeout_s
    if _takes_handshake(tool, context):
        try:
            return _asked_in(tool, inputs, context, token, handshake=True)
        except exchange.NoHandshake:
            older_questions.forget(_args(tool), context.project_root)
            if (left := until - time.monotonic()) <= 0:
                raise
            context = replace(context, timeout_s=left)
    return _asked_in(tool, inputs, context, token, handshake=False)


def _asked_in(
    tool: Tool, inputs: JsonObject, context: Context, token: str, *, handshake: bool
) -> SessionAnswer:
    args = templates.substitute_secrets(_args(tool), context.secrets)
    command, headers = args.get("command"), args.get("headers", {})
    server = Server(
        command=tuple(command) if command else None,
        url=args.get("url"),
        headers=logins.with_token(headers, token) if token else headers,
        handshake=handshake,
    )
    surroundings = Surroundings(
        directory=context.project_root,
        environment={**context.environment, **args.get("env", {})},
        timeout_s=context.timeout_s,
        allow_hosts=context.allow_hosts,
        cancel=context.cancel,
        sandbox=context.sandbox,
        questions=context.questions,
        secrets=(*context.secrets.values(), *([token] if token else [])),
    )
    request = {"tool": _entrypoint(tool), "arguments": inputs, "digest": args["digest"]}
    if pins := _args(tool).get("skills"):
        request = skill_reading.request_of(pins, inputs, tool=_entrypoint(tool))
    if telemetry := tracing.telemetry():
        request["meta"] = telemetry.ask_server({"network.transport": "pipe" if command else "tcp"})
    ask = exchange.ask if context.sessions is None else context.sessions.ask
    return ask(server, request, surroundings, name=tool.name, kit=tool.kit_id or "")


def _takes_handshake(tool: Tool, context: Context) -> bool:
    """Whether the tool's server is reached with a handshake, so that it can ask. Skills are only
    there without one.
    """
    args = _args(tool)
    return (
        context.questions is not None
        and not args.get("skills")
        and older_questions.is_known(args, context.project_root)
    )


def _unasked(tool: Tool, error: ToolExecutionError) -> NeedsInput:
    """Return the error of a call whose server asks where there is no one to ask."""
    said = f"{tool.name} asks the user a question, but there is no one to ask here"
    unasked = NeedsInput(f"{said} ({error.message})")
    unasked.details |= error.details
    return unasked


def _use_handshake(tool: Tool, context: Context, error: ToolExecutionError) -> None:
    """Reach the tool's server with a handshake from now on, and say so in the error."""
    if not _takes_handshake(tool, context) and older_questions.remember(
        _args(tool), context.project_root
    ):
        error.hint = older_questions.HINT


def _given(tool: Tool, inputs: JsonObject, answer: SessionAnswer) -> JsonValue:
    """Return what a call gave; raises as `_result` and `skill_reading.result_of` do."""
    result, pins = answer.document["result"], _args(tool).get("skills")
    if not pins:
        return _result(result)
    return skill_reading.result_of(pins, inputs, result, kit=tool.kit_id or "")


def _args(tool: Tool) -> dict[str, Any]:
    if tool.implementation is None:
        raise InvalidTool(tool.uid, ["has no `implementation_details`"], path=tool.directory or "")
    return tool.implementation.args


def _entrypoint(tool: Tool) -> str:
    return str(tool.implementation.entrypoint) if tool.implementation else ""


def _result(result: JsonObject) -> JsonValue:
    """Return what a `tools/call` gave: its structured content, its one text, or all of it where it
    holds more than that.

    Raises ToolExecutionError where it says that it is an error.
    """
    blocks = [block for block in result.get("content", ()) if isinstance(block, dict)]
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    if result.get("isError"):
        raise ToolExecutionError(
            "\n".join(texts) or ("the tool reported a failure without a reason")
        )
    if len(texts) == len(blocks):
        if result.get("structuredContent") is not None:
            return result["structuredContent"]
        if len(texts) <= 1:
            return texts[0] if texts else ""
    return {key: result[key] for key in ("content", "structuredContent") if key in result}
