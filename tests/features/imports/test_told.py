"""What an import says of the kit that it made, and what it fetches."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.support.descriptions import described, imported
from vespe.errors import UsageError, VespeError
from vespe.features.imports import recognition, told, writing
from vespe.projects import user_config

PATHS: dict[str, Any] = {
    "/a": {"get": {"operationId": "a", "tags": ["small"]}},
    "/b": {"get": {"operationId": "b", "tags": ["large"], "description": "Say it. " * 40}},
    "/c": {"get": {"operationId": "c"}},
}


def test_the_report_has_every_tool_and_what_all_cost(tmp_path: Path) -> None:
    source = imported(described(PATHS), tmp_path)
    made = writing.written(source, "kit")
    said = told.report_of(source, made, target="/kits/kit", changes=[])
    assert (said["kit_id"], said["path"], said["changes"]) == ("kit", "/kits/kit", [])
    assert [tool["name"] for tool in said["tools"]] == ["a", "b", "c"]
    assert said["tokens"] == told.size(made).to_json()


def test_the_tags_are_told_by_what_they_cost(tmp_path: Path) -> None:
    found = told.tokens_by_tag(writing.written(imported(described(PATHS), tmp_path), "kit"))
    assert [tag for tag, _ in found] == ["large", "small"]
    assert found[0][1] > found[1][1] > 0


class Handler(BaseHTTPRequestHandler):
    """Answers `/` alone."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/" else 404)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_private_address_is_fetched_where_the_user_allows_it(home: Path, address: str) -> None:
    with pytest.raises(VespeError):
        told.fetch(f"{address}/")
    user_config.set_value("allow_hosts", [address.removeprefix("http://")])
    assert told.fetch(f"{address}/") == b"{}"
    with pytest.raises(UsageError, match="answered with status 404"):
        told.fetch(f"{address}/none")


@pytest.mark.parametrize(
    ("kit_id", "kind", "said"),
    [
        ("k", "openap", "no kind of import"),
        (None, None, "the new kit needs an id"),
        (None, "mcp-json", "cannot be imported: the tools of MCP servers"),
    ],
)
def test_what_is_asked_for_is_judged_before_anything_is_read(
    kit_id: str | None, kind: str | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        recognition.checked_id(kit_id, "a.json", kind=kind)
