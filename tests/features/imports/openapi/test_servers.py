"""Where an operation is sent."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.descriptions import described, imported
from vespe.models import JsonObject

LEVELS: list[tuple[JsonObject, str]] = [
    ({"servers": [{"url": "https://a.example/v1/"}]}, "https://a.example/v1/x"),
    (
        {
            "servers": [
                {
                    "url": "https://{r}.example/{b}",
                    "variables": {"r": {"default": "eu"}, "b": {"default": "v2"}},
                }
            ]
        },
        "https://eu.example/v2/x",
    ),
    (
        {"servers": [{"url": "https://{r}.example", "variables": {"r": {"enum": ["us"]}}}]},
        "https://us.example/x",
    ),
    (
        {"servers": [{"url": "wss://a.example"}, {"url": "https://b.example"}]},
        "https://b.example/x",
    ),
    ({"servers": [{"url": "/api"}]}, "http://localhost/api/x"),
    ({"servers": []}, "http://localhost/x"),
    ({"servers": [{"url": "api.example.com/v1"}]}, "https://api.example.com/v1/x"),
    ({"servers": [{"url": "https://a.example:8443"}]}, "https://a.example:8443/x"),
]


@pytest.mark.parametrize(("said", "url"), LEVELS)
def test_the_first_server_that_can_be_called_is(said: JsonObject, url: str, tmp_path: Path) -> None:
    (made,) = imported(described({"/x": {"get": {}}}, **said), tmp_path).tools
    assert made.document["implementation_details"]["path"] == url


def test_an_operations_own_server_comes_before_its_paths_and_the_descriptions(
    tmp_path: Path,
) -> None:
    own, path = [{"url": "https://own.example"}], [{"url": "https://path.example"}]
    made = imported(
        described({"/x": {"servers": path, "get": {"servers": own}, "put": {}}}), tmp_path
    )
    assert made.hosts == ("own.example", "path.example")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://{x}.example", "has the variable x without a default"),
        ("ftp://a.example", "is not HTTP"),
        ("https://user:pw@a.example", "cannot be called"),
        ("https://ünï.example", "cannot be called"),
        ("https://0x7f.1/", "cannot be called"),
    ],
)
def test_a_server_that_cannot_be_called_is_a_reason(url: str, said: str, tmp_path: Path) -> None:
    (left,) = imported(described({"/x": {"get": {}}}, servers=[{"url": url}]), tmp_path).left_out
    assert said in left.reason


@pytest.mark.parametrize(
    ("said", "url"),
    [
        (
            {"host": "a.example", "basePath": "/v1", "schemes": ["http", "https"]},
            "https://a.example/v1/x",
        ),
        ({"host": "a.example", "schemes": ["http"]}, "http://a.example/x"),
        ({"host": "a.example"}, "https://a.example/x"),
        ({"basePath": "/v1"}, "http://localhost/v1/x"),
    ],
)
def test_a_server_of_2_0(said: JsonObject, url: str, tmp_path: Path) -> None:
    document = {"swagger": "2.0", "info": {}, "paths": {"/x": {"get": {}}}, **said}
    (made,) = imported(document, tmp_path).tools
    assert made.document["implementation_details"]["path"] == url


def test_a_server_that_is_given_counts_alone(tmp_path: Path) -> None:
    made = imported(described({"/x": {"get": {}}}), tmp_path, server="https://mine.example/base/")
    assert made.tools[0].document["implementation_details"]["path"] == "https://mine.example/base/x"


def test_a_host_that_is_made_up_is_said(tmp_path: Path) -> None:
    made: Any = imported(described({"/x": {"get": {}}}, servers=[]), tmp_path)
    assert any("--server URL" in note for note in made.notes)
