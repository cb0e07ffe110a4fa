"""What can go wrong in the commands and requests of Vespe's own tools."""

from typing import Any

import pytest

from tests.features.lint.judging import found_by, rules_of, subject
from vespe.features.lint.rules import commands

RULES = rules_of(commands)
TEXT = {"type": "string"}


def said(
    details: Any, schema: dict[str, Any] | None = None, **document: Any
) -> list[tuple[str, str]]:
    given = {"type": "object", "properties": {"file": TEXT} if schema is None else schema}
    found = found_by(
        RULES,
        subject(
            api="vespe",
            input_schema=given,
            document={"implementation_details": details, **document},
        ),
    )
    return [
        (code.removeprefix("safety-"), f.pointer.removeprefix("/implementation_details/args"))
        for code, f in found
    ]


def argv(
    *items: Any, schema: dict[str, Any] | None = None, program: str = "head"
) -> list[tuple[str, str]]:
    return said(
        {"type": "shell_command", "entrypoint": program, "args": {"argv": list(items)}}, schema
    )


def request(path: str = "https://example.org", **parts: Any) -> list[tuple[str, str]]:
    return said({"type": "http_request", "path": path, "args": parts.pop("args", {})}, **parts)


@pytest.mark.parametrize(
    ("items", "at"),
    [
        (["{file}"], "/argv/0"),
        (["-n", "{file}"], "/argv/1"),
        (["-n", ["--in", "{file}"]], "/argv/1/1"),
        (["{file}.txt"], "/argv/0"),
        (["{file}", "--"], "/argv/0"),
    ],
)
def test_an_element_that_begins_with_an_input_can_be_an_option(items: list[Any], at: str) -> None:
    assert argv(*items) == [("argv-option", at)]


@pytest.mark.parametrize(
    "items",
    [
        ["--", "{file}"],
        ["--in={file}"],
        ["-n{file}"],
        ["./{file}"],
        ["{other}"],
        ["--", ["{file}"]],
        [],
    ],
)
def test_an_element_that_cannot_is_fine(items: list[Any]) -> None:
    assert argv(*items) == []


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"enum": ["a", "b"]}, False),
        ({"enum": ["a", "-b"]}, True),
        ({"const": "a"}, False),
        ({"type": "boolean"}, False),
        ({"type": "integer"}, True),
        ({"type": "integer", "minimum": 0}, False),
        ({"type": "number", "exclusiveMinimum": 0}, False),
        ({"type": "integer", "minimum": -1}, True),
        ({"type": "string", "pattern": "^[a-z]+$"}, False),
        ({"type": "string", "pattern": "^[a-z-]+$"}, True),
        ({"type": "string", "pattern": "[a-z]"}, True),
        ({"type": "string", "pattern": "^["}, True),
        ({"type": "array", "items": {"enum": ["a"]}}, False),
        ({"type": "array", "items": TEXT}, True),
        (True, True),
    ],
)
def test_whether_a_value_can_begin_with_a_dash_is_read_from_its_schema(
    schema: Any, found: bool
) -> None:
    assert bool(argv("{file}", schema={"file": schema})) is found


def test_an_input_in_a_shells_program_is_found() -> None:
    assert argv("-c", "wc -l {file}", program="sh") == [("shell", "/argv/1")]
    assert argv("-ec", "wc -l '{file}'", program="bash") == [("shell", "/argv/1")]
    assert argv("-c", "wc -l", program="sh") == []
    assert argv("-c", "--", "wc -l {file}", program="wc") == []
    assert argv("script.sh", "--", "{file}", program="sh") == []


@pytest.mark.parametrize(
    "path", ["http://api.example.org/v1", "HTTP://10.0.0.1", "http://localhost.example.org/"]
)
def test_plain_http_is_found(path: str) -> None:
    assert [code for code, _ in request(path)] == ["plain-http"]


@pytest.mark.parametrize(
    "path",
    [
        "https://api.example.org",
        "http://localhost:80/x",
        "http://127.0.0.1",
        "http://[::1]:8080/",
        3,
    ],
)
def test_https_and_this_machine_are_fine(path: Any) -> None:
    assert request(path) == []


@pytest.mark.parametrize(
    "text",
    [
        "${API_KEY}",
        "${ENV:API_KEY}",
        "${env.API_KEY}",
        "{{ env.API_KEY }}",
        "{{secrets.KEY}}",
        "%API_KEY%",
        "${secret:KEY}",
    ],
)
def test_other_spellings_of_a_variable_are_passed_on_as_they_are(text: str) -> None:
    assert request(args={"headers": {"X-Key": f"Bearer {text}"}}) == [
        ("literal-secret", "/headers/X-Key")
    ]


@pytest.mark.parametrize("text", ["${env:API_KEY}", "{file}", "$5", "100%", "${x}", "a {b} c"])
def test_secrets_inputs_and_ordinary_text_are_fine(text: str) -> None:
    assert (
        request(args={"headers": {"X-Key": text}}, secrets=["API_KEY"] if "env" in text else [])
        == []
    )


def test_a_secret_in_argv_can_be_seen_by_others() -> None:
    assert argv("--token=${env:KEY}") == [("literal-secret", "/argv/0")]


def test_a_secrets_place_in_an_example_is_told() -> None:
    assert request(examples=[{"input": {"k": "${env:KEY}"}}]) == [
        ("literal-secret", "/examples/0/input/k")
    ]


def test_a_declared_secret_that_a_request_does_not_use_is_told() -> None:
    used = {"auth": {"type": "bearer", "token": "${env:KEY}"}}
    assert request(args=used, secrets=["KEY", "OTHER", 3]) == [("unused-secret", "/secrets/1")]
    assert said({"type": "python_script", "path": "main.py"}, secrets=["KEY"]) == [], (
        "a script reads its environment"
    )


@pytest.mark.parametrize(
    "details",
    [
        None,
        [],
        "x",
        {"type": "shell_command", "args": []},
        {"type": "shell_command", "args": {"argv": {"a": 1}}},
        {"type": "http_request", "args": 3},
    ],
)
def test_nonsense_raises_nothing(details: Any) -> None:
    assert said(details) == []


def test_foreign_definitions_have_no_commands() -> None:
    document = {"implementation_details": {"type": "http_request", "path": "http://example.org"}}
    assert found_by(RULES, subject(api="mcp", document=document)) == []
