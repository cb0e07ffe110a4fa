"""What is sent for each style of parameter and each kind of body, byte for byte: a table by hand,
one server, one process.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Exchange, Loopback
from vespe.features.imports.made import Selection
from vespe.features.imports.openapi.documents import Documents
from vespe.features.imports.openapi.importing import import_openapi
from vespe.models import Implementation, JsonObject, Tool
from vespe.tool_types import Context
from vespe.types.http_request.execution import HttpRequest

TABLE = json.loads((Path(__file__).parents[3] / "cases/openapi/styles.json").read_bytes())


@dataclass
class Api:
    """A description's tools, and the server that they call."""

    server: Loopback
    seen: list[Exchange]
    directory: Path

    def called(self, paths: JsonObject, value: Any, *, older: bool = False) -> Exchange:
        """Import one operation, call it with one input, and give the request that came."""
        address = f"127.0.0.1:{self.server.port}"
        about: JsonObject = (
            {"swagger": "2.0", "host": address, "schemes": ["http"]}
            if older
            else {"openapi": "3.2.0"}
        )
        document = {
            **about,
            "info": {"title": "t", "version": "1"},
            "servers": [{"url": f"http://{address}"}],
            "paths": paths,
        }
        file = self.directory / "api.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        (made,) = import_openapi(Documents(str(file)), kit_id="kit", selection=Selection()).tools
        details = made.document["implementation_details"]
        (name,) = made.document["schema"]["input"]["properties"]
        implementation = Implementation(
            type="http_request",
            path=details["path"],
            entrypoint=details["entrypoint"],
            args=details.get("args", {}),
        )
        schema = made.document["schema"]["input"]
        tool = Tool(
            uid="tool-x",
            name="x",
            description="",
            input_schema=schema,
            implementation=implementation,
        )
        context = Context(project_root=".", directory=".", timeout_s=30, allow_hosts=("127.0.0.1",))
        HttpRequest().execute(tool, {name: value}, context)
        return self.seen[-1]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    seen: list[Exchange] = []

    def keep(exchange: Exchange) -> bool:
        seen.append(exchange)
        return exchange.reply(b"{}")

    with Loopback(keep) as server:
        yield Api(server=server, seen=seen, directory=tmp_path_factory.mktemp("api"))


def wrong(rows: list[Any], sent: Any) -> list[str]:
    """Compare every row with what is sent, so that one run shows all that is wrong."""
    found = [(row, sent(row)) for row in rows]
    return [
        f"{json.dumps(row)}: {got!r}"
        for row, got in found
        if got != row[-2 if row[-1] == "open" else -1]
    ]


def parameter(place: str, said: JsonObject, value: Any) -> JsonObject:
    kind = {
        str: "string",
        int: "integer",
        float: "number",
        bool: "boolean",
        list: "array",
        dict: "object",
    }.get(type(value), "string")
    schema = {} if "content" in said else {"schema": {"type": kind}}
    return {"name": "color", "in": place, "required": place == "path", **schema, **said}


def test_a_path_is_written_as_the_table_of_styles_has_it(api: Api) -> None:
    def sent(row: Any) -> str:
        said = {"parameters": [parameter("path", row[0], row[1])]}
        return api.called({"/x{color}": {"get": said}}, row[1]).target.removeprefix("/x")

    assert wrong(TABLE["path"], sent) == []


def test_a_query_is_written_as_the_table_of_styles_has_it(api: Api) -> None:
    def sent(row: Any) -> str:
        return api.called(
            {"/x": {"get": {"parameters": [parameter("query", row[0], row[1])]}}}, row[1]
        ).target.partition("?")[2]

    assert wrong(TABLE["query"], sent) == []


@pytest.mark.parametrize("place", ["header", "cookie"])
def test_headers_and_cookies_are_written_as_the_table_of_styles_has_them(
    api: Api, place: str
) -> None:
    def sent(row: Any) -> str | None:
        said = {"parameters": [parameter(place, row[0], row[1])]}
        return api.called({"/x": {"get": said}}, row[1]).headers.get(
            "cookie" if place == "cookie" else "color"
        )

    assert wrong(TABLE[place], sent) == []


def test_collection_formats_of_2_0_are_written_as_its_table_has_them(api: Api) -> None:
    def sent(row: Any) -> str:
        path = "/x/{color}" if row[0]["in"] == "path" else "/x"
        seen = api.called(
            {path: {"post": {"parameters": [{"name": "color", **row[0]}]}}}, row[1], older=True
        )
        if row[0]["in"] == "header":
            return seen.headers["color"]
        return (
            seen.body.decode() or seen.target.partition("?")[2] or seen.target.removeprefix("/x/")
        )

    assert wrong(TABLE["older"], sent) == []


def test_bodies_are_written_as_their_media_types_say(api: Api) -> None:
    def sent(row: Any) -> tuple[str, str]:
        seen = api.called(
            {"/x": {"post": {"requestBody": {"required": True, "content": row[0]}}}}, row[1]
        )
        kind, boundary = (
            seen.headers["content-type"],
            re.search("boundary=(.*)", seen.headers["content-type"]),
        )
        return tuple(
            text.replace(boundary[1], "B") if boundary else text
            for text in (kind, seen.body.decode())
        )  # type: ignore[return-value]  # two, as given

    rows = [[*row[:2], (row[2], row[3])] for row in TABLE["body"]]
    assert wrong(rows, sent) == []


def test_a_whole_query_string_is_one_input(api: Api) -> None:
    def sent(row: Any) -> str:
        said = {"parameters": [{"name": "q", "in": "querystring", "content": row[0]}]}
        return api.called({"/x": {"get": said}}, row[1]).target.partition("?")[2]

    assert wrong(TABLE["querystring"], sent) == []


def test_the_table_has_more_than_eighty_rows() -> None:
    assert sum(map(len, TABLE.values())) >= 120
