"""UTCP manuals: what is called over HTTP or by one command becomes a tool, the rest a reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from vespe.features.imports import recognition, writing
from vespe.features.imports.made import Imported, Selection
from vespe.models import JsonObject

RECORDED = Path(__file__).parents[4] / "shared/corpus/tooldefs/utcp"
INPUTS = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "body": {"type": "object"},
        "trace": {"type": "string"},
        "q": {},
    },
}


def imported(
    directory: Path,
    template: JsonObject,
    key: str = "tool_call_template",
    inputs: JsonObject = INPUTS,
) -> Imported:
    tool = {
        "name": "notes.add",
        "description": "Add.",
        "inputs": inputs,
        "tags": ["note"],
        key: template,
    }
    (directory / "m.json").write_text(
        json.dumps({"utcp_version": "1.0.1", "manual_version": "2.0", "tools": [tool]}),
        encoding="utf-8",
    )
    return recognition.import_from(
        str(directory / "m.json"), kit_id="kit", kind=None, selection=Selection()
    )


def test_inputs_go_where_the_manual_says_and_the_rest_into_the_query(tmp_path: Path) -> None:
    template = {
        "call_template_type": "http",
        "url": "https://a.example/notes/{id}",
        "http_method": "POST",
        "header_fields": ["trace"],
    }
    (made,) = imported(tmp_path, template).tools
    assert made.name == "notes_add"
    assert made.document["implementation_details"] == {
        "type": "http_request",
        "path": "https://a.example/notes/{id}",
        "entrypoint": "POST",
        "args": {
            "body": {"json": "{body}"},
            "query": {"q": "{q}"},
            "headers": {"trace": "{trace}"},
        },
    }


@pytest.mark.parametrize(
    ("auth", "args", "secrets"),
    [
        (
            {"auth_type": "api_key", "api_key": "$MY_KEY", "var_name": "X-K"},
            {"headers": {"X-K": "${env:MY_KEY}"}},
            ["MY_KEY"],
        ),
        (
            {
                "auth_type": "api_key",
                "api_key": "Bearer ${T}",
                "var_name": "Authorization",
                "location": "header",
            },
            {"headers": {"Authorization": "Bearer ${env:T}"}},
            ["T"],
        ),
        (
            {
                "auth_type": "api_key",
                "api_key": "sk-in-the-manual",
                "var_name": "k",
                "location": "query",
            },
            {"query": {"k": "${env:KIT_API_KEY}"}},
            ["KIT_API_KEY"],
        ),
        (
            {"auth_type": "basic", "username": "$U", "password": "pw"},
            {"auth": {"type": "basic", "username": "${env:U}", "password": "${env:KIT_PASSWORD}"}},
            ["U", "KIT_PASSWORD"],
        ),
        (
            {
                "auth_type": "oauth2",
                "token_url": "https://t",
                "client_id": "x",
                "client_secret": "y",
            },
            {"auth": {"type": "bearer", "token": "${env:KIT_ACCESS_TOKEN}"}},
            ["KIT_ACCESS_TOKEN"],
        ),
    ],
)
def test_a_secret_is_declared_and_never_taken_from_the_manual(
    auth: JsonObject, args: JsonObject, secrets: list[str], tmp_path: Path
) -> None:
    template = {"call_template_type": "http", "url": "https://a.example", "auth": auth}
    (made,) = imported(tmp_path, template, inputs={"properties": {}}).tools
    assert (made.document["implementation_details"]["args"], made.document["secrets"]) == (
        args,
        secrets,
    )
    assert "sk-in-the-manual" not in json.dumps(made.document) and '"pw"' not in json.dumps(
        made.document
    )


def test_the_older_form_of_a_manual_is_read(tmp_path: Path) -> None:
    (made,) = imported(
        tmp_path,
        {"provider_type": "http", "url": "https://a.example", "http_method": "GET"},
        key="tool_provider",
    ).tools
    assert made.document["implementation_details"]["path"] == "https://a.example"


@pytest.mark.parametrize(
    ("template", "argv"),
    [
        ({"call_template_type": "cli", "command_name": "git log"}, ["log", ["--q", "{q}"]]),
        (
            {
                "call_template_type": "cli",
                "commands": [{"command": "grep -r UTCP_ARG_q_UTCP_END ."}],
            },
            ["-r", "{q}", "."],
        ),
    ],
)
def test_a_command_without_a_shell_is_one(
    template: JsonObject, argv: list[Any], tmp_path: Path
) -> None:
    (made,) = imported(tmp_path, template, inputs={"properties": {"q": {"type": "string"}}}).tools
    assert made.document["implementation_details"]["args"]["argv"] == argv


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (
            {"call_template_type": "cli", "commands": [{"command": "a"}, {"command": "b"}]},
            "several commands",
        ),
        ({"call_template_type": "cli", "commands": [{"command": "cat x | sh"}]}, "needs a shell"),
        (
            {"call_template_type": "cli", "command_name": "/opt/x"},
            "may not exist on other machines",
        ),
        ({"call_template_type": "mcp", "config": {}}, "add-mcp"),
        ({"call_template_type": "graphql"}, "graphql"),
        ({"call_template_type": "http", "url": "https://$HOST/x"}, "variable"),
        ({"call_template_type": "http", "url": "file:///etc"}, "cannot be called"),
        ({}, "does not say how"),
    ],
)
def test_what_cannot_be_called_here_is_a_reason(
    template: JsonObject, said: str, tmp_path: Path
) -> None:
    (left,) = imported(tmp_path, template).left_out
    assert said in left.reason


@pytest.mark.parametrize("name", ["newsapi_manual", "sample_tools"])
def test_recorded_manuals_become_tools_and_reasons(name: str) -> None:
    if not RECORDED.is_dir():
        pytest.skip(f"NOT RUN: the recorded manuals are not in {RECORDED}")
    file = RECORDED / f"{name}.json"
    made = recognition.import_from(str(file), kit_id="kit", kind=None, selection=Selection())
    assert len(writing.written(made, "kit").tools) + len(made.left_out) == len(
        json.loads(file.read_bytes())["tools"]
    )
