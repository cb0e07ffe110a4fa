"""Security schemes become declared secrets; nothing of them stands in a kit."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.descriptions import described, imported
from vespe.features.imports.made import Made
from vespe.models import JsonObject

SCHEMES: list[tuple[JsonObject, JsonObject, list[str]]] = [
    (
        {"type": "apiKey", "in": "header", "name": "X-Key"},
        {"headers": {"X-Key": "${env:KIT_MY_AUTH}"}},
        ["KIT_MY_AUTH"],
    ),
    (
        {"type": "apiKey", "in": "query", "name": "key"},
        {"query": {"key": "${env:KIT_MY_AUTH}"}},
        ["KIT_MY_AUTH"],
    ),
    (
        {"type": "apiKey", "in": "cookie", "name": "sid"},
        {"cookies": {"sid": "${env:KIT_MY_AUTH}"}},
        ["KIT_MY_AUTH"],
    ),
    (
        {"type": "http", "scheme": "bearer"},
        {"auth": {"type": "bearer", "token": "${env:KIT_MY_AUTH}"}},
        ["KIT_MY_AUTH"],
    ),
    (
        {"type": "http", "scheme": "Bearer"},
        {"auth": {"type": "bearer", "token": "${env:KIT_MY_AUTH}"}},
        ["KIT_MY_AUTH"],
    ),
    (
        {"type": "oauth2", "flows": {}},
        {"auth": {"type": "bearer", "token": "${env:KIT_MY_AUTH}"}},
        ["KIT_MY_AUTH"],
    ),
    (
        {"type": "openIdConnect"},
        {"auth": {"type": "bearer", "token": "${env:KIT_MY_AUTH}"}},
        ["KIT_MY_AUTH"],
    ),
    (
        {"type": "http", "scheme": "custom"},
        {"headers": {"Authorization": "${env:KIT_MY_AUTH}"}},
        ["KIT_MY_AUTH"],
    ),
    (
        {"type": "basic"},
        {
            "auth": {
                "type": "basic",
                "username": "${env:KIT_MY_AUTH_USERNAME}",
                "password": "${env:KIT_MY_AUTH_PASSWORD}",
            }
        },
        ["KIT_MY_AUTH_PASSWORD", "KIT_MY_AUTH_USERNAME"],
    ),
]


def tool(directory: Path, security: Any, **schemes: JsonObject) -> Made:
    (made,) = imported(
        described({"/x": {"get": {"security": security}}}, components={"securitySchemes": schemes}),
        directory,
    ).tools
    return made


@pytest.mark.parametrize(("scheme", "args", "secrets"), SCHEMES)
def test_a_scheme_is_a_secret_in_its_place(
    scheme: JsonObject, args: JsonObject, secrets: list[str], tmp_path: Path
) -> None:
    made = tool(tmp_path, [{"myAuth": []}], myAuth=scheme)
    assert (made.document["implementation_details"]["args"], made.document["secrets"]) == (
        args,
        secrets,
    )


def test_schemes_that_are_wanted_together_are_sent_together(tmp_path: Path) -> None:
    key, app = (
        {"type": "apiKey", "in": "header", "name": "X-Key"},
        {"type": "apiKey", "in": "query", "name": "app"},
    )
    made = tool(tmp_path, [{"a": [], "b": []}], a=key, b=app)
    assert made.document["secrets"] == ["KIT_A", "KIT_B"]


def test_of_alternatives_the_first_that_can_be_sent_is(tmp_path: Path) -> None:
    made = tool(
        tmp_path,
        [{"tls": []}, {"b": []}],
        tls={"type": "mutualTLS"},
        b={"type": "http", "scheme": "bearer"},
    )
    assert made.document["secrets"] == ["KIT_B"]


@pytest.mark.parametrize(
    "scheme",
    [{"type": "mutualTLS"}, {"type": "http", "scheme": "digest"}, {"type": "apiKey"}, {}, None],
)
def test_what_cannot_be_sent_is_said(scheme: Any, tmp_path: Path) -> None:
    made = tool(tmp_path, [{"a": []}], **({} if scheme is None else {"a": scheme}))
    assert any("its security scheme a" in note for note in made.notes)


@pytest.mark.parametrize("security", [[], [{}], [{}, {"a": []}]])
def test_an_operation_that_may_go_without_goes_without(security: Any, tmp_path: Path) -> None:
    assert (
        "secrets" not in tool(tmp_path, security, a={"type": "http", "scheme": "bearer"}).document
    )


def test_a_parameter_that_is_a_credential_is_a_secret_and_no_input(tmp_path: Path) -> None:
    said = {
        "parameters": [
            {"name": "Authorization", "in": "header", "required": True, "schema": {}},
            {"name": "q", "in": "query", "schema": {}},
        ]
    }
    (made,) = imported(described({"/x": {"get": said}}), tmp_path).tools
    assert list(made.document["schema"]["input"]["properties"]) == ["q"]
    assert made.document["implementation_details"]["args"]["headers"] == {
        "Authorization": "${env:KIT_AUTHORIZATION}"
    }
