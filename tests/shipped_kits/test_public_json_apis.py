"""The HTTP tools, offline: the kit is copied, each origin replaced by a loopback server's, and the
request and answer read.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from tests.shipped_kits.shipped import DIRECTORIES, KITS, call, document
from tests.support.loopback import Exchange, Loopback
from vespe.errors import AddressRefused, InvalidArguments, InvalidOutput, ToolExecutionError
from vespe.models import Tool
from vespe.tools import directory as tool_directory

KIT = "public_json_apis"
TOOLS = [name for name in DIRECTORIES if name.startswith(f"{KIT}/")]

Case = tuple[str, dict[str, Any], str, dict[str, str], Any]
CASES: list[Case] = [
    (
        "find_place",
        {"name": "Göteborg & co", "count": 1},
        "/v1/search",
        {"name": "Göteborg & co", "count": "1", "language": "en", "format": "json"},
        {
            "results": [
                {
                    "id": 1,
                    "name": "Gothenburg",
                    "latitude": 57.7,
                    "longitude": 11.97,
                    "country_code": "SE",
                }
            ]
        },
    ),
    (
        "find_place",
        {"name": "Nowhere"},
        "/v1/search",
        {"name": "Nowhere", "count": "5", "language": "en", "format": "json"},
        {},
    ),
    (
        "weather_forecast",
        {"latitude": -33.5, "longitude": 151},
        "/v1/forecast",
        {"latitude": "-33.5", "longitude": "151", "forecast_days": "3", "timezone": "auto"},
        {
            "current": {"temperature_2m": 21.5},
            "current_units": {"temperature_2m": "°C"},
            "daily": {"time": ["2031-01-01"]},
        },
    ),
    (
        "wikipedia_summary",
        {"title": "AC/DC & Æon?"},
        "/api/rest_v1/page/summary/AC/DC & Æon?",
        {},
        {"type": "standard", "title": "AC/DC", "extract": "A band."},
    ),
    (
        "pypi_package",
        {"package": "requests"},
        "/pypi/requests/json",
        {},
        {
            "info": {"name": "requests", "version": "9.0", "summary": None},
            "releases": {},
            "urls": [],
        },
    ),
    (
        "npm_package",
        {"package": "@types/node"},
        "/@types/node/latest",
        {},
        {"name": "@types/node", "version": "99.0.0"},
    ),
    (
        "exchange_rate",
        {"base": "EUR", "quote": "USD", "date": "2031-01-02"},
        "/v2/rate/EUR/USD",
        {"date": "2031-01-02"},
        {"date": "2031-01-02", "base": "EUR", "quote": "USD", "rate": 1.25},
    ),
    (
        "exchange_rate",
        {"base": "EUR", "quote": "USD"},
        "/v2/rate/EUR/USD",
        {},
        {"base": "EUR", "quote": "USD", "rate": 1},
    ),
    (
        "public_holidays",
        {"country": "DE", "year": 2031},
        "/api/v3/PublicHolidays/2031/DE",
        {},
        [
            {
                "date": "2031-01-01",
                "localName": "Neujahr",
                "name": "New Year's Day",
                "global": True,
                "counties": None,
            }
        ],
    ),
    (
        "github_repository",
        {"owner": "python", "repository": "cpython"},
        "/repos/python/cpython",
        {},
        {
            "full_name": "python/cpython",
            "description": None,
            "stargazers_count": 1,
            "default_branch": "main",
        },
    ),
]
"""Tool, inputs, and what must be asked (path, query) and is answered: small bodies in the shape
that the services document.
"""


def offline(name: str, server: Loopback, at: Path) -> Tool:
    """Copy the kit and point one of its tools at the loopback server."""
    kit = at / KIT
    if not kit.exists():
        shutil.copytree(KITS / KIT, kit)
    stated = json.loads((kit / "kit_config.json").read_text(encoding="utf-8")) | {
        "allow_hosts": [
            server.host,
            *json.loads((kit / "kit_config.json").read_text(encoding="utf-8"))["allow_hosts"],
        ]
    }
    (kit / "kit_config.json").write_text(json.dumps(stated), encoding="utf-8")
    directory = kit / DIRECTORIES[f"{KIT}/{name}"].name
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    url = urlsplit(config["implementation_details"]["path"])
    config["implementation_details"]["path"] = server.url(url.path)
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return tool_directory.load(directory, scope=KIT, kit_id=KIT)


def ask(
    name: str, inputs: dict[str, Any], at: Path, answer: Callable[[Exchange], bool]
) -> tuple[Any, list[str]]:
    """Call a tool against a server that gives `answer`; gives its result, and the requests' targets
    and headers as text.
    """
    with Loopback(answer) as server:
        result = call(offline(name, server, at), inputs, at=at, allow_hosts=(server.host,))
        return result, [raw.decode("ascii") for raw in server.requests]


@pytest.mark.parametrize(
    ("name", "inputs", "path", "query", "body"),
    CASES,
    ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)],
)
def test_a_call_is_one_get_and_its_answer_the_result(
    tmp_path: Path, name: str, inputs: dict[str, Any], path: str, query: dict[str, str], body: Any
) -> None:
    given, (request,) = ask(
        name, inputs, tmp_path, lambda exchange: exchange.reply(json.dumps(body).encode())
    )
    method, target, _ = request.split("\r\n")[0].split(" ")
    sent = dict(parse_qsl(urlsplit(target).query))
    assert method == "GET" and unquote(urlsplit(target).path) == path
    assert {key: sent[key] for key in query} == query and sent.keys() - query.keys() <= {
        "current",
        "daily",
    }
    assert (
        given == (body["info"] if name == "pypi_package" else body)
        and "user-agent: vespe/" in request.lower()
    )


def test_every_tool_of_the_kit_is_called_in_these_tests() -> None:
    assert {f"{KIT}/{case[0]}" for case in CASES} == set(TOOLS)


@pytest.mark.parametrize(
    ("name", "inputs"),
    [("wikipedia_summary", {"title": "A/../B"}), ("npm_package", {"package": "@a/b"})],
)
def test_a_value_with_slashes_stays_one_segment(
    tmp_path: Path, name: str, inputs: dict[str, str]
) -> None:
    body = json.dumps({"title": "x", "extract": "x", "name": "x", "version": "1"}).encode()
    _, (request,) = ask(name, inputs, tmp_path, lambda exchange: exchange.reply(body))
    assert "%2F" in request.split(" ")[1] and "/../" not in request


def test_another_spelling_is_found_by_a_redirect_on_the_same_host(tmp_path: Path) -> None:
    def answer(exchange: Exchange) -> bool:
        if exchange.target.endswith("/lovelace"):
            return exchange.reply(b"", "Location: Ada_Lovelace", status=302)
        return exchange.reply(b'{"title": "Ada Lovelace", "extract": "A mathematician."}')

    result, requests = ask("wikipedia_summary", {"title": "lovelace"}, tmp_path, answer)
    assert result["title"] == "Ada Lovelace" and len(requests) == 2


@pytest.mark.parametrize("name", [name.partition("/")[2] for name in TOOLS])
def test_a_refusal_of_the_service_is_a_sentence_with_its_status(tmp_path: Path, name: str) -> None:
    inputs = next(case[1] for case in CASES if case[0] == name)
    with pytest.raises(ToolExecutionError, match="status 404") as caught:
        ask(
            name,
            inputs,
            tmp_path,
            lambda exchange: exchange.reply(b'{"message": "no such thing"}', status=404),
        )
    assert "no such thing" in str(caught.value)


def test_an_answer_that_is_not_json_is_the_services_failure(tmp_path: Path) -> None:
    with pytest.raises(InvalidOutput):
        ask(
            "exchange_rate",
            {"base": "EUR", "quote": "USD"},
            tmp_path,
            lambda exchange: exchange.reply(b"<html>", kind="text/html"),
        )


@pytest.mark.parametrize("name", TOOLS)
def test_bad_arguments_send_nothing(name: str, tmp_path: Path) -> None:
    with Loopback() as server:
        tool = offline(name.partition("/")[2], server, tmp_path)
        for example in tool.examples:
            with pytest.raises(InvalidArguments):
                call(tool, example["input"], at=tmp_path, allow_hosts=(server.host,))
        assert example["error"] == "invalid_arguments" and server.connections == 0


def test_without_the_users_word_no_loopback_host_is_reached(tmp_path: Path) -> None:
    with Loopback() as server, pytest.raises(AddressRefused):
        call(
            offline("exchange_rate", server, tmp_path), {"base": "EUR", "quote": "USD"}, at=tmp_path
        )


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_names_the_one_host_that_it_reaches_and_sends_no_secret(name: str) -> None:
    config = document(name)
    url = urlsplit(config["implementation_details"]["path"])
    assert url.scheme == "https" and config["permissions"] == {"network": [url.hostname]}
    assert "${env:" not in json.dumps(config) and "secrets" not in config
