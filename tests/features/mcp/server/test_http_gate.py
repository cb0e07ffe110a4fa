"""The gate: who is let in, and what never reaches the protocol."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_serving import INITIALIZE, Serving, noted, serving, stocked
from tests.support.ondisk import PATIENCE_S

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "cases/mcp/strangers.json").read_text(encoding="utf-8")
)["rows"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One server for the whole module, with a home of its own."""
    root = tmp_path_factory.mktemp("gate")
    env = {
        name: str(root / "home")
        for name in ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    }
    project = stocked(root / "project")
    with serving(project, "--trust", "--token-file", str(root / "token"), env=env) as up:
        yield up


def call(name: str, arguments: dict[str, Any]) -> str:
    return json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 7,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_p41_only_the_owner_on_this_machine_is_let_in(row: dict[str, Any], served: Serving) -> None:
    def filled(value: str | None) -> str | None:
        return value and value.replace("PORT", str(served.port)).replace("TOKEN", str(served.token))

    headers = {name: filled(value) for name, value in row["headers"].items()}
    if "Content-Length" in headers:
        raw = (
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
            f"Bearer {served.token}\r\nContent-Type: application/json\r\n"
        )
        status, answer = served.request(f"{raw}Content-Length: {headers['Content-Length']}\r\n\r\n")
    else:
        status, answer = served.post(INITIALIZE, **headers)
    assert status == row["status"], answer


def test_p41_what_a_stranger_asks_for_never_runs(served: Serving, tmp_path: Path) -> None:
    mark = tmp_path / "canary"
    for headers in (
        {"Host": "evil"},
        {"Origin": "http://evil"},
        {"Authorization": "Bearer x"},
        {"Content-Type": "text/plain"},
    ):
        assert served.post(call("nap", {"mark": str(mark)}), **headers)[0] in (401, 403, 415, 421)
    assert not mark.exists()


@pytest.mark.parametrize(
    "raw",
    [
        "GET / HTTP/1.1",
        "GET /mcp/../mcp HTTP/1.1",
        "PUT /mcp HTTP/1.1",
        "OPTIONS /mcp HTTP/1.1",
        "POST /health HTTP/1.1",
    ],
)
def test_other_paths_and_methods_are_refused(raw: str, served: Serving) -> None:
    head = (
        f"{raw}\r\nHost: localhost\r\nAuthorization: Bearer {served.token}\r\nContent-Length: "
        "0\r\n\r\n"
    )
    assert served.request(head)[0] in (404, 405)


def test_health_is_told_without_a_token_but_to_no_stranger(served: Serving) -> None:
    assert served.request("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")[0] == 200
    assert served.request("GET /health HTTP/1.1\r\nHost: evil\r\n\r\n")[0] == 421


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '{"a": 1e400}',
        '"\\ud800"',
        "[" * 100,
        '\ufeff{"a": 1}',
        '{"a": 1} x',
    ],
)
def test_a_body_that_is_no_strict_json_is_a_parse_error_and_the_next_is_served(
    body: str, served: Serving
) -> None:
    status, answer = served.post(body)
    assert (status, b"-32700" in answer or b"not JSON" in answer) == (400, True), answer
    assert served.post(INITIALIZE)[0] == 200


def test_two_headers_of_one_name_are_as_good_as_none(served: Serving) -> None:
    twice = (
        f"Host: localhost\r\nAuthorization: Bearer {served.token}\r\nAuthorization: Bearer x\r\n"
    )
    assert served.request(f"GET /mcp HTTP/1.1\r\n{twice}\r\n")[0] == 401


def test_a_body_of_more_than_4_mib_in_pieces_is_cut_off(served: Serving) -> None:
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
        f"Bearer {served.token}\r\nContent-Type: application/json\r\n"
    )
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    status, _ = served.request(
        f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + piece * 4 + b"1\r\n \r\n0\r\n\r\n"
    )
    assert status == 413


def test_p44b_the_callers_own_token_never_reaches_a_tool(
    served: Serving, tmp_path_factory: pytest.TempPathFactory
) -> None:
    mark = tmp_path_factory.getbasetemp() / "gate0/mark"
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": _modern("nap", {"mark": str(mark)}),
        }
    )
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "nap"}
    with pytest.raises(TimeoutError):
        _post_and_wait(served, body, headers)
    environment = (
        Path(f"/proc/{noted(mark)}/environ").read_bytes() if Path("/proc").is_dir() else b""
    )
    assert (
        str(served.token).encode() not in environment
        and b"AUTHORIZATION" not in environment.upper()
    )


def _modern(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"name": name, "arguments": arguments, "_meta": meta}


def _post_and_wait(served: Serving, body: str, headers: dict[str, str]) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
        f"Bearer {served.token}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
    )
    served.request(head + body, timeout_s=3)


@pytest.mark.parametrize("chunked", [False, True], ids=["declared", "chunked"])
def test_p44_a_client_that_sends_a_large_body_whole_reads_why_it_is_refused(
    chunked: bool, served: Serving
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE_S)
    body = b'"' + b"x" * (12 * 1024 * 1024) + b'"'
    headers = {**served.headers, "Content-Type": "application/json"}
    pieces = iter([body[start : start + 65536] for start in range(0, len(body), 65536)])
    try:
        connection.request(
            "POST", "/mcp", pieces if chunked else body, headers, encode_chunked=chunked
        )
        assert connection.getresponse().status == 413
    finally:
        connection.close()
