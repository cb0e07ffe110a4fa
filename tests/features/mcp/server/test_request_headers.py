"""What the newest revision says in headers too: judged as the official SDK judges it."""

import base64
import itertools
from typing import Any

import pytest
from mcp.shared import inbound

from vespe.features.mcp.server import request_headers, revisions
from vespe.features.mcp.server.messages import ProtocolError
from vespe.models import JsonObject

META = {revisions.REVISION_KEY: revisions.NEWEST, revisions.CAPABILITIES_KEY: {}}
OWN = {
    "mcp-protocol-version": revisions.NEWEST,
    "mcp-method": "tools/call",
    "mcp-name": "add",
}


def request(method: str = "tools/call", **params: Any) -> JsonObject:
    named = {"name": "add", "arguments": {}} if method == "tools/call" else {}
    return {
        "jsonrpc": "2.0",
        "id": 7,
        "method": method,
        "params": {"_meta": META, **named, **params},
    }


def encoded(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, request()),
        ({"mcp-method": "tools/list", "mcp-name": None}, request("tools/list")),
        ({"mcp-method": "tools/list"}, request("tools/list")),
        ({"mcp-method": "resources/read", "mcp-name": "x:y"}, request("resources/read", uri="x:y")),
        ({"mcp-name": encoded("übe")}, request(name="übe")),
        ({"mcp-name": encoded("add")}, request()),
        ({"mcp-name": "=?base64?YWRk!?="}, request()),
        ({"mcp-name": "=?base64?YWRkZB=?="}, request(name="addd")),
        ({"mcp-name": "=?base64?/w==?="}, request()),
        ({"mcp-name": "other"}, request()),
        ({"mcp-name": None}, request()),
        ({"mcp-method": None}, request()),
        ({"mcp-method": "tools/list"}, request()),
        ({"mcp-name": None}, request(name=None)),
        ({"mcp-name": "3"}, request(name=3)),
        ({"mcp-protocol-version": "2099-01-01"}, request()),
        ({}, request(_meta={})),
        ({}, request(_meta=[1])),
        ({}, request(_meta={revisions.REVISION_KEY: revisions.NEWEST})),
        ({}, request(_meta={**META, revisions.REVISION_KEY: "2099-01-01"})),
        ({}, request() | {"params": [1]}),
        ({}, {key: value for key, value in request().items() if key != "params"}),
    ],
)
def test_a_request_is_let_through_or_refused_as_the_sdk_does(
    changed: dict[str, str | None], message: JsonObject
) -> None:
    given = {name: value for name, value in (OWN | changed).items() if value is not None}
    verdict = inbound.classify_inbound_request(message, headers=given)
    expected = getattr(verdict, "code", None)
    assert refusal(lambda: request_headers.check(raw(given), message)) == expected


INTEGER = {"type": "integer", "x-mcp-header": "Count"}
SCHEMAS: list[JsonObject] = [
    {"properties": {"where": {"type": "string", "x-mcp-header": "Where"}}},
    {"properties": {"where": INTEGER}},
    {"properties": {"where": {"type": "boolean", "x-mcp-header": "Where"}}},
    {"properties": {"in": {"properties": {"where": INTEGER}}}},
    {"properties": {"where": {"type": "number", "x-mcp-header": "Where"}}},
    {"properties": {"where": {"type": "string", "x-mcp-header": "no token"}}},
    {"properties": {"where": INTEGER, "other": INTEGER}},
    {"items": INTEGER, "properties": {"where": INTEGER}},
    {"$defs": {"x-mcp-header": {}}, "properties": {"where": INTEGER}},
    {"properties": {"where": INTEGER | {"default": {"x-mcp-header": 1}}}},
    {"properties": {"x-mcp-header": {"type": "string"}}},
]
VALUES: list[Any] = ["here", "über", "", 3, 3.0, 4.5, True, None, [1], 10**20, 10**5000]
SAID = [
    None,
    "here",
    encoded("über"),
    encoded("x") + "!",
    "",
    "3",
    "3.0",
    "03",
    "3.5",
    "true",
    "\0",
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_arguments_are_let_through_or_refused_as_the_sdk_does(schema: JsonObject) -> None:
    seen = set()
    for value, where, count in itertools.product(VALUES, SAID, SAID):
        given = {"mcp-param-where": where, "mcp-param-count": count}
        headers = {name: said for name, said in given.items() if said is not None}
        for arguments in ({"where": value}, {"in": {"where": value}}, {}):
            verdict = inbound.validate_mcp_param_headers(schema, arguments, headers)
            found = refusal(
                lambda arguments=arguments, headers=headers: request_headers.check_arguments(
                    raw(headers), schema, arguments
                )
            )
            assert found == getattr(verdict, "code", None), (arguments, headers)
            seen.add(found)
    assert None in seen


def test_a_schema_is_looked_through_once_and_nothing_is_kept_of_one_that_wants_headers() -> None:
    plain, wants = request_headers.Plain(), SCHEMAS[0]
    own: JsonObject = {"type": "object"}
    assert [plain.knows("a", own), plain.knows("a", own), plain.knows("a", wants)] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("header", "kinds"),
    [
        ("application/json, text/event-stream", (True, True)),
        ("application/*;q=1, text/*", (True, True)),
        ("*/*", (True, True)),
        ("application/json", (True, False)),
        ("Text/Event-Stream", (False, True)),
        ("text/html", (False, False)),
        (None, (False, False)),
    ],
)
def test_what_a_client_accepts(header: str | None, kinds: tuple[bool, bool]) -> None:
    assert request_headers.accepted(header) == kinds


def raw(headers: dict[str, str]) -> dict[bytes, str | None]:
    return {name.encode(): value for name, value in headers.items()}


def refusal(work: Any) -> int | None:
    try:
        work()
    except ProtocolError as error:
        return error.code
    return None
