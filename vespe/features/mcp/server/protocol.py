"""MCP as a pure function: from one JSON-RPC message to its answer, or to the call that has to run
first.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Final, Protocol, TypeAlias

from vespe.calls import tracing
from vespe.calls.asking import Asker
from vespe.errors import Interrupted
from vespe.features.mcp.server import kept_results, messages, revisions, unforeseen
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError, RequestId
from vespe.features.mcp.server.pages import Ready
from vespe.features.mcp.server.resources import TEMPLATE
from vespe.features.mcp.server.served_client import ServedClient
from vespe.models import JsonObject, JsonValue, Outcome
from vespe.records import dataclass

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The levels of log messages, the least grave first."""
_RESOURCE_NOT_FOUND: Final = -32002
_MAX_SUBSCRIPTIONS: Final = 100


class ToolSource(Protocol):
    """What the protocol asks of the tools that are served; each raises ProtocolError for a cursor
    or an address that is none.
    """

    def page(
        self, revision: str, cursor: str | None, *, elicits: bool = False
    ) -> Mapping[str, Any]:
        """Return `{"tools", "nextCursor"}` as the revision says them, complete with what the newest
        adds to a result; those that its user must allow for a client that `elicits`.
        """
        ...

    def resources(self, cursor: str | None) -> JsonObject:
        """Return `{"resources", "nextCursor"}`."""
        ...

    def read(self, uri: str) -> JsonObject:
        """Return `{"contents"}` of one resource."""
        ...


class SkillSource(Protocol):
    """The skills of what is served: `vespe.features.mcp.server.tools.ServedTools`."""

    def skills(self, cursor: str | None) -> JsonObject:
        """Return `{"skills", "nextCursor"}`."""
        ...

    def skill(self, uri: str) -> JsonObject:
        """Return `{"skill"}`."""
        ...


class TaskSource(Protocol):
    """The tasks of what is served: `vespe.features.mcp.server.task_calls.TaskCalls`."""

    def get(self, params: JsonObject) -> JsonObject:
        """Answer `tasks/get`."""
        ...

    def update(self, params: JsonObject) -> JsonObject:
        """Answer `tasks/update`."""
        ...

    def cancel(self, params: JsonObject) -> JsonObject:
        """Answer `tasks/cancel`."""
        ...

    def known(self, identifiers: JsonValue) -> list[JsonValue]:
        """Return those of some ids that are tasks of this client."""
        ...

    def news(self, identifiers: JsonValue, told: dict[str, str]) -> Iterable[JsonObject]:
        """Return the tasks that changed since they were told."""
        ...


class TaskListener(Protocol):
    """Who a call is a task for: `vespe.features.mcp.server.task_calls.RunningTask`."""

    @property
    def asker(self) -> Asker | None:
        """What asks the user while the task waits; None while it is no task yet."""
        ...

    def hear(self, outcome: Outcome) -> None:
        """Take what became of the call."""
        ...


class ProtocolSession:
    """What is known of one client: the `revision` of its handshake, its `log_level`, and its open
    subscriptions by id.

    A client of the newest revision has no handshake: every request of its says what it needs.
    `client` is what is bound to the client beyond that; `elicits` says that it can ask its user.
    """

    __slots__ = (
        "client",
        "elicits",
        "initialized",
        "log_level",
        "revision",
        "subscriptions",
        "told_tasks",
    )

    def __init__(self, client: ServedClient | None = None) -> None:
        self.client = ServedClient() if client is None else client
        self.revision: str = revisions.HANDSHAKE[0]
        self.initialized = False
        self.elicits = False
        self.log_level: str | None = None
        self.subscriptions: dict[RequestId, JsonObject] = {}
        self.told_tasks: dict[RequestId, dict[str, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A `tools/call` to run: `progress_token` and `log_level` are None where the client wants to
    hear of neither.

    `trace` is what the request carries of the client's trace. `elicits` says that the client can
    ask its user; in the newest revision `responses` and `state` are what it brings of an earlier
    round. `knows_tasks` says that it may be answered with a task, and `task` hears what
    became of the call where it was.
    """

    id: RequestId
    name: str
    arguments: JsonObject
    revision: str
    client: ServedClient | None = field(default=None, compare=False, repr=False)
    progress_token: RequestId | None = None
    log_level: str | None = None
    elicits: bool = False
    responses: JsonObject | None = None
    state: str | None = None
    trace: JsonObject = field(default_factory=dict)
    knows_tasks: bool = False
    task: "TaskListener | None" = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancellation:
    """The client no longer waits for the answer to a request."""

    id: RequestId
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    id: RequestId
    params: JsonObject
    session: ProtocolSession
    tools: ToolSource
    revision: str

    @property
    def elicits(self) -> bool:
        if self.revision != revisions.NEWEST:
            return self.session.elicits
        return revisions.declares_elicitation(self.params["_meta"][revisions.CAPABILITIES_KEY])


Handled: TypeAlias = JsonObject | PendingCall | Cancellation | None


def handle(message: JsonValue, session: ProtocolSession, tools: ToolSource) -> Handled:
    """Return what answers a message: the answer, the call to run, the call to cancel, or None where
    there is nothing to say.

    A `subscriptions/listen` is answered at its end; what it gives at once is the notification that
    acknowledges it. Errors that nobody foresaw are logged, and answered as internal errors.
    """
    if reason := messages.why_no_request(message):
        if isinstance(message, dict) and messages.is_response(message):
            session.client.questions.take(message)
            return None
        identifier = message.get("id") if isinstance(message, dict) else None
        known = identifier if messages.is_request_id(identifier) else None
        return messages.failed(known, messages.INVALID_REQUEST, f"not a request: {reason}")
    if "id" not in message:
        return _notified(message, session)
    try:
        return _answer(message, session, tools)
    except ProtocolError as error:
        return messages.failed(message["id"], error.code, error.message, data=error.data)
    except Interrupted:
        raise
    except Exception as error:
        return unforeseen.failed(message["id"], message["method"], error)


def changes(session: ProtocolSession) -> list[JsonObject]:
    """Return what to tell a client when the tools have changed: their descriptions are resources,
    and change with them.

    One that shook hands is told; each subscription is told what it is for, whether or not hands
    were shaken too.
    """
    kinds = ("tools", "resources")
    told = (
        [messages.notification(f"notifications/{kind}/list_changed", {}) for kind in kinds]
        if session.initialized
        else []
    )
    return told + [
        messages.notification(
            f"notifications/{kind}/list_changed",
            {"_meta": {revisions.SUBSCRIPTION_KEY: identifier}},
        )
        for identifier, wanted in list(session.subscriptions.items())
        for kind in kinds
        if wanted.get(f"{kind}ListChanged")
    ]


def task_news(session: ProtocolSession, tasks: "TaskSource | None") -> list[JsonObject]:
    """Return what to tell a client of the tasks that it listens to."""
    told: list[JsonObject] = []
    for identifier, wanted in list(session.subscriptions.items()) if tasks is not None else ():
        if "taskIds" not in wanted:
            continue
        known = session.told_tasks.setdefault(identifier, {})
        assert tasks is not None
        for task in tasks.news(wanted["taskIds"], known):
            stamp: JsonObject = {"_meta": {revisions.SUBSCRIPTION_KEY: identifier}}
            told.append(messages.notification("notifications/tasks", task | stamp))
    return told


def ends(session: ProtocolSession) -> list[JsonObject]:
    """Return the answers that close a client's open subscriptions, and forget them."""
    closing = [
        messages.answered(
            identifier,
            revisions.complete(
                {"_meta": {revisions.SUBSCRIPTION_KEY: identifier}}, revisions.NEWEST
            ),
        )
        for identifier in list(session.subscriptions)
    ]
    session.subscriptions.clear()
    return closing


def _notified(message: JsonObject, session: ProtocolSession) -> Cancellation | None:
    params = message.get("params")
    if message["method"] == "notifications/initialized":
        session.initialized = True
    if message["method"] != "notifications/cancelled" or not isinstance(params, dict):
        return None
    identifier = params.get("requestId")
    if (
        not messages.is_request_id(identifier)
        or session.subscriptions.pop(identifier, None) is not None
    ):
        return None
    return Cancellation(id=identifier, reason=str(params.get("reason", "")))


def _answer(
    message: JsonObject, session: ProtocolSession, tools: ToolSource
) -> JsonObject | PendingCall:
    method = message["method"]
    params = message.get("params")
    if not isinstance(params, dict | None):
        raise ProtocolError(INVALID_PARAMS, "params must be an object")
    revision = _revision(method, params or {}, session)
    serve = (_MODERN if revision == revisions.NEWEST else _HANDSHAKE).get(method)
    if serve is None:
        raise ProtocolError(
            messages.METHOD_NOT_FOUND, f"there is no method {method[:80]!r}", data=method[:80]
        )
    answer = serve(
        _Request(
            id=message["id"], params=params or {}, session=session, tools=tools, revision=revision
        )
    )
    if isinstance(answer, PendingCall) or (not isinstance(answer, Ready) and "method" in answer):
        return answer
    return messages.answered(message["id"], answer)


def _revision(method: str, params: JsonObject, session: ProtocolSession) -> str:
    """Return the revision that a request is made in: the newest says so in each, and the handshake
    speaks for all others.
    """
    meta = params.get("_meta")
    if not isinstance(meta, dict | None):
        raise ProtocolError(INVALID_PARAMS, "params._meta must be an object")
    if method == "initialize" or (
        revisions.REVISION_KEY not in (meta or {}) and method not in _ONLY_MODERN
    ):
        return session.revision
    missing = [
        key
        for key in (revisions.REVISION_KEY, revisions.CAPABILITIES_KEY)
        if key not in (meta or {})
    ]
    if missing:
        raise ProtocolError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    assert meta is not None
    requested = meta[revisions.REVISION_KEY]
    if not isinstance(requested, str) or not isinstance(meta[revisions.CAPABILITIES_KEY], dict):
        raise ProtocolError(
            INVALID_PARAMS,
            "params._meta must have the revision as a string and the capabilities as an object",
        )
    if requested != revisions.NEWEST:
        supported: JsonObject = {"supported": list(revisions.SUPPORTED), "requested": requested}
        raise ProtocolError(
            messages.UNSUPPORTED_REVISION, "Unsupported protocol version", data=supported
        )
    return revisions.NEWEST


def _initialize(request: _Request) -> JsonObject:
    session = request.session
    if not isinstance(request.params.get("protocolVersion"), str):
        raise ProtocolError(INVALID_PARAMS, "initialize needs protocolVersion, a string")
    session.revision = revisions.negotiated(request.params["protocolVersion"])
    session.elicits = revisions.knows_elicitation(
        session.revision
    ) and revisions.declares_elicitation(request.params.get("capabilities"))
    session.initialized = True
    return {
        "protocolVersion": session.revision,
        "capabilities": revisions.CAPABILITIES,
        "serverInfo": revisions.SERVER,
    }


def _discover(request: _Request) -> JsonObject:
    extensions: JsonObject = {} if _tasks_of(request) is None else {revisions.TASKS: {}}
    if _skills_of(request) is not None:
        extensions[revisions.SKILLS] = {}
    found: JsonObject = {
        "supportedVersions": list(revisions.SUPPORTED),
        "capabilities": revisions.CAPABILITIES | ({"extensions": extensions} if extensions else {}),
    }
    return revisions.complete(found, request.revision, cached=True)


def _ping(request: _Request) -> JsonObject:
    return {}


def _set_level(request: _Request) -> JsonObject:
    level = request.params.get("level")
    if level not in LEVELS:
        raise ProtocolError(INVALID_PARAMS, f"level is one of {', '.join(LEVELS)}")
    request.session.log_level = level
    return {}


def _listen(request: _Request) -> JsonObject:
    wanted = request.params.get("notifications")
    if not isinstance(wanted, dict):
        raise ProtocolError(INVALID_PARAMS, "subscriptions/listen needs notifications, an object")
    if request.id in request.session.subscriptions:
        raise ProtocolError(messages.INVALID_REQUEST, "a subscription with this id is already open")
    if len(request.session.subscriptions) >= _MAX_SUBSCRIPTIONS:
        raise ProtocolError(messages.BUSY, f"{_MAX_SUBSCRIPTIONS} subscriptions are already open")
    agreed: JsonObject = {
        key: True for key in ("toolsListChanged", "resourcesListChanged") if wanted.get(key) is True
    }
    tasks = _tasks_of(request)
    if tasks is not None and "taskIds" in wanted and _knows_tasks(request):
        agreed["taskIds"] = tasks.known(wanted["taskIds"])
    request.session.subscriptions[request.id] = agreed
    said: JsonObject = {"notifications": agreed, "_meta": {revisions.SUBSCRIPTION_KEY: request.id}}
    return messages.notification("notifications/subscriptions/acknowledged", said)


def _list_tools(request: _Request) -> Mapping[str, Any]:
    return request.tools.page(request.revision, _cursor(request), elicits=request.elicits)


def _call_tool(request: _Request) -> PendingCall:
    name, arguments, meta = (
        request.params.get("name"),
        request.params.get("arguments"),
        request.params.get("_meta") or {},
    )
    if not isinstance(name, str):
        raise ProtocolError(INVALID_PARAMS, "tools/call needs name, a string")
    if not isinstance(arguments, dict | None):
        raise ProtocolError(INVALID_PARAMS, "arguments must be an object")
    token = meta.get("progressToken")
    if token is not None and not messages.is_request_id(token):
        raise ProtocolError(INVALID_PARAMS, "a progress token must be a string or an integer")
    level = (
        meta.get(revisions.LOG_LEVEL_KEY)
        if request.revision == revisions.NEWEST
        else request.session.log_level
    )
    responses, state = _answers(request) if request.revision == revisions.NEWEST else (None, None)
    return PendingCall(
        id=request.id,
        name=name,
        arguments=arguments or {},
        revision=request.revision,
        client=request.session.client,
        progress_token=token,
        log_level=level if level in LEVELS else None,
        elicits=request.elicits,
        responses=responses,
        state=state,
        trace={key: value for key in tracing.CARRIED if isinstance(value := meta.get(key), str)}
        if meta
        else {},
        knows_tasks=_knows_tasks(request),
    )


def _knows_tasks(request: _Request) -> bool:
    meta = request.params.get("_meta") or {}
    return request.revision == revisions.NEWEST and revisions.declares_tasks(
        meta.get(revisions.CAPABILITIES_KEY)
    )


def _tasks_of(request: _Request) -> TaskSource | None:
    found: TaskSource | None = getattr(request.tools, "task_calls", None)
    return found


def _skills_of(request: _Request) -> SkillSource | None:
    found: Any = request.tools
    return found if getattr(found, "has_skills", False) else None


def _list_skills(request: _Request) -> JsonObject:
    found = _needed_skills(request).skills(_cursor(request))
    return revisions.complete(found, request.revision, cached=True)


def _get_skill(request: _Request) -> JsonObject:
    uri = request.params.get("uri")
    if not isinstance(uri, str):
        raise ProtocolError(INVALID_PARAMS, "skills/get needs uri, a string")
    found = _needed_skills(request).skill(uri)
    return revisions.complete(found, request.revision, cached=True)


def _needed_skills(request: _Request) -> SkillSource:
    skills = _skills_of(request)
    if skills is None:
        raise ProtocolError(messages.METHOD_NOT_FOUND, "there are no skills here")
    return skills


def _about_task(
    answer: Callable[[TaskSource, JsonObject], JsonObject],
) -> Callable[[_Request], JsonObject]:
    """Return a method that is about one task of the client's."""

    def answered(request: _Request) -> JsonObject:
        tasks = _tasks_of(request)
        if tasks is None:
            raise ProtocolError(messages.METHOD_NOT_FOUND, "there are no tasks here")
        if not _knows_tasks(request):
            needed: JsonObject = {"requiredCapabilities": {"extensions": {revisions.TASKS: {}}}}
            said = f"the client must declare the extension {revisions.TASKS}"
            raise ProtocolError(messages.MISSING_CAPABILITY, said, data=needed)
        return revisions.complete(answer(tasks, request.params), request.revision)

    return answered


def _answers(request: _Request) -> tuple[JsonObject | None, str | None]:
    """Return what a call brings of an earlier round: the answers by key, and the state."""
    responses, state = request.params.get("inputResponses", {}), request.params.get("requestState")
    if not isinstance(responses, dict) or not all(
        isinstance(answer, dict) for answer in responses.values()
    ):
        raise ProtocolError(INVALID_PARAMS, "inputResponses must be an object of objects")
    if not isinstance(state, str | None):
        raise ProtocolError(INVALID_PARAMS, "requestState must be a string")
    return responses or None, state


def _list_resources(request: _Request) -> JsonObject:
    return revisions.complete(
        request.tools.resources(_cursor(request)), request.revision, cached=True
    )


def _read_resource(request: _Request) -> JsonObject:
    uri = request.params.get("uri")
    if not isinstance(uri, str):
        raise ProtocolError(INVALID_PARAMS, "resources/read needs uri, a string")
    try:
        found = (
            kept_results.contents(uri, request.session.client.results)
            if kept_results.is_address(uri)
            else request.tools.read(uri)
        )
        return revisions.complete(found, request.revision, cached=True)
    except ProtocolError as error:
        code = error.code if request.revision == revisions.NEWEST else _RESOURCE_NOT_FOUND
        raise ProtocolError(code, error.message, data={"uri": uri}) from None


def _always(key: str, *items: JsonObject) -> Callable[[_Request], JsonObject]:
    """Return the method that lists what is the same in every project."""

    def listed(request: _Request) -> JsonObject:
        if _cursor(request) is not None:
            raise ProtocolError(INVALID_PARAMS, "there is no such cursor")
        return revisions.complete({key: list(items)}, request.revision, cached=True)

    return listed


def _get_prompt(request: _Request) -> JsonObject:
    raise ProtocolError(
        INVALID_PARAMS,
        f"there is no prompt {str(request.params.get('name'))[:80]!r}: this server has none",
    )


def _cursor(request: _Request) -> str | None:
    cursor = request.params.get("cursor")
    if not isinstance(cursor, str | None):
        raise ProtocolError(INVALID_PARAMS, "a cursor is a string")
    return cursor


_BOTH: Final[dict[str, Callable[[_Request], Any]]] = {
    "tools/list": _list_tools,
    "tools/call": _call_tool,
    "resources/list": _list_resources,
    "resources/templates/list": _always("resourceTemplates", TEMPLATE, kept_results.TEMPLATE),
    "resources/read": _read_resource,
    "prompts/list": _always("prompts"),
    "prompts/get": _get_prompt,
}
_HANDSHAKE: Final = _BOTH | {
    "initialize": _initialize,
    "ping": _ping,
    "logging/setLevel": _set_level,
}
_ONLY_MODERN: Final[dict[str, Callable[[_Request], Any]]] = {
    "server/discover": _discover,
    "subscriptions/listen": _listen,
    "skills/list": _list_skills,
    "skills/get": _get_skill,
    "tasks/get": _about_task(lambda tasks, params: tasks.get(params)),
    "tasks/update": _about_task(lambda tasks, params: tasks.update(params)),
    "tasks/cancel": _about_task(lambda tasks, params: tasks.cancel(params)),
}
_MODERN: Final = _BOTH | _ONLY_MODERN
