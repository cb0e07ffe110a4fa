"""MCP as a function, held to the protocol's own schemas where they are there."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from vespe.features.mcp.server import protocol, revisions
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError
from vespe.features.mcp.server.protocol import Cancellation, PendingCall, ProtocolSession

ENVELOPE = {revisions.REVISION_KEY: revisions.NEWEST, revisions.CAPABILITIES_KEY: {}}


class Shelf:
    """A source of tools that holds one."""

    def page(self, revision: str, cursor: str | None, *, elicits: bool = False) -> dict[str, Any]:
        entry = {"name": "add", "inputSchema": {"type": "object"}}
        return revisions.complete({"tools": [entry]}, revision, cached=True)

    def resources(self, cursor: str | None) -> dict[str, Any]:
        return {
            "resources": [{"uri": "vespe://tools/add/description.md", "name": "add/description.md"}]
        }

    def read(self, uri: str) -> dict[str, Any]:
        if "add" not in uri:
            raise ProtocolError(INVALID_PARAMS, "there is no such resource")
        return {"contents": [{"uri": uri, "text": "# add"}]}


def ask(
    method: str, params: Any = None, *, session: ProtocolSession | None = None, modern: bool = False
) -> Any:
    given = (
        {**(params or {}), "_meta": {**ENVELOPE, **(params or {}).get("_meta", {})}}
        if modern
        else params
    )
    message = {"jsonrpc": "2.0", "id": 1, "method": method} | (
        {} if given is None else {"params": given}
    )
    return protocol.handle(message, session or ProtocolSession(), Shelf())


@pytest.mark.parametrize("revision", revisions.HANDSHAKE)
def test_a_handshake_settles_the_revision(revision: str) -> None:
    session = ProtocolSession()
    result = ask("initialize", {"protocolVersion": revision, "capabilities": {}}, session=session)[
        "result"
    ]
    assert (
        result["protocolVersion"] == session.revision == revision
        and result["serverInfo"]["name"] == "vespe"
    )


def test_the_newest_revision_has_discovery_and_no_handshake() -> None:
    assert revisions.NEWEST in ask("server/discover", modern=True)["result"]["supportedVersions"]
    for gone in ("ping", "logging/setLevel"):
        assert ask(gone, {"level": "info"}, modern=True)["error"]["code"] == -32601


def test_requests_of_both_kinds_may_come_from_one_client() -> None:
    session = ProtocolSession()
    assert "resultType" not in ask("tools/list", session=session)["result"]
    assert ask("tools/list", session=session, modern=True)["result"]["resultType"] == "complete"


def test_a_revision_that_is_not_spoken_is_answered_with_those_that_are() -> None:
    error = ask("tools/list", {"_meta": {**ENVELOPE, revisions.REVISION_KEY: "2031-01-01"}})[
        "error"
    ]
    assert (error["code"], error["data"]) == (
        -32022,
        {"supported": list(revisions.SUPPORTED), "requested": "2031-01-01"},
    )


def test_a_call_waits_to_be_run_with_what_its_client_wants_to_hear() -> None:
    meta = {"progressToken": 7, revisions.LOG_LEVEL_KEY: "debug"}
    pending = ask("tools/call", {"name": "add", "arguments": {"a": 1}, "_meta": meta}, modern=True)
    assert pending == PendingCall(
        id=1,
        name="add",
        arguments={"a": 1},
        revision=revisions.NEWEST,
        progress_token=7,
        log_level="debug",
    )


def test_a_level_that_was_set_holds_for_the_calls_after_it() -> None:
    session = ProtocolSession()
    assert ask("logging/setLevel", {"level": "warning"}, session=session)["result"] == {}
    assert ask("tools/call", {"name": "add"}, session=session).log_level == "warning"


def test_a_cancellation_names_the_request() -> None:
    message = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 5, "reason": "enough"},
    }
    assert protocol.handle(message, ProtocolSession(), Shelf()) == Cancellation(
        id=5, reason="enough"
    )


def test_a_subscription_is_acknowledged_told_of_changes_and_closed() -> None:
    session = ProtocolSession()
    wanted = {"toolsListChanged": True, "promptsListChanged": True}
    said = ask("subscriptions/listen", {"notifications": wanted}, session=session, modern=True)
    assert said["params"]["notifications"] == {"toolsListChanged": True}
    assert [told["method"] for told in protocol.changes(session)] == [
        "notifications/tools/list_changed"
    ]
    assert [closed["id"] for closed in protocol.ends(session)] == [1] and protocol.changes(
        session
    ) == []


def test_a_client_that_shook_hands_hears_on_its_subscription_too() -> None:
    session = ProtocolSession()
    session.initialized = True
    ask(
        "subscriptions/listen",
        {"notifications": {"toolsListChanged": True}},
        session=session,
        modern=True,
    )
    told = [
        message["params"] for message in protocol.changes(session) if "tools" in message["method"]
    ]
    assert told == [{}, {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}}]


def test_a_subscription_that_is_cancelled_hears_no_more() -> None:
    session = ProtocolSession()
    ask(
        "subscriptions/listen",
        {"notifications": {"toolsListChanged": True}},
        session=session,
        modern=True,
    )
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert protocol.handle(message, session, Shelf()) is None and protocol.changes(session) == []


def test_subscriptions_are_bounded() -> None:
    session = ProtocolSession()
    session.subscriptions = {number: {} for number in range(100)}
    wanted = {"notifications": {}, "_meta": ENVELOPE}
    message = {
        "jsonrpc": "2.0",
        "id": "one more",
        "method": "subscriptions/listen",
        "params": wanted,
    }
    answer: Any = protocol.handle(message, session, Shelf())
    assert answer["error"]["code"] == -32000


def test_nobody_is_told_of_changes_who_did_not_ask() -> None:
    assert protocol.changes(ProtocolSession()) == []


@pytest.mark.parametrize("revision", revisions.SUPPORTED)
@pytest.mark.parametrize(
    ("method", "params", "definition"),
    [
        ("server/discover", {}, "DiscoverResult"),
        ("initialize", {"protocolVersion": "", "capabilities": {}}, "InitializeResult"),
        ("tools/list", {}, "ListToolsResult"),
        ("resources/list", {}, "ListResourcesResult"),
        ("resources/templates/list", {}, "ListResourceTemplatesResult"),
        ("resources/read", {"uri": "vespe://tools/add/description.md"}, "ReadResourceResult"),
        ("prompts/list", {}, "ListPromptsResult"),
    ],
)
def test_results_are_what_the_schema_of_each_revision_says(
    shared: Path, revision: str, method: str, params: dict[str, Any], definition: str
) -> None:
    schema = json.loads(
        (shared / f"corpus/mcp-messages/schema/{revision}/schema.json").read_text(encoding="utf-8")
    )
    key = "$defs" if "$defs" in schema else "definitions"
    if definition not in schema[key]:
        return
    session = ProtocolSession()
    session.revision = revision
    given = params | ({"protocolVersion": revision} if method == "initialize" else {})
    result = ask(method, given, session=session, modern=revision == revisions.NEWEST)["result"]
    jsonschema.validate(result, {key: schema[key], "$ref": f"#/{key}/{definition}"})
