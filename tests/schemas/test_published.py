"""The published schemas: complete, taken by JSON Schema's reference validator, and found by
editors.
"""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support import broken_configs
from tests.support.broken_configs import Case
from vespe.projects import project, user_config
from vespe.schemas import forms, published, validator
from vespe.tools import directory as tool_directory
from vespe.types.http_request.form import METHODS, wrong_with_url

REPOSITORY = Path(__file__).parents[2]
KITS = sorted(REPOSITORY.glob("kits/*/tool-*/config.json")) + sorted(
    REPOSITORY.glob("kits/*/tools/*/config.json")
)


@pytest.mark.parametrize("name", published.NAMES)
def test_each_is_a_schema_for_the_reference_validator_and_for_ours(name: str) -> None:
    schema = published.read_published(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert validator.check_schema(schema) == []
    assert schema["$id"] == f"https://vespe.invalid/schemas/{name}.schema.json"


def both(name: str, document: Any) -> tuple[bool, bool]:
    schema = published.read_published(name)
    return jsonschema.Draft202012Validator(schema).is_valid(document), validator.Validator(
        schema
    ).is_valid(document)


@pytest.mark.parametrize("path", KITS, ids=lambda path: path.parent.name)
def test_every_shipped_tool_is_allowed_by_both_validators(path: Path) -> None:
    assert both("tool", json.loads(path.read_text(encoding="utf-8"))) == (True, True)


def test_the_shipped_tools_are_many() -> None:
    assert len(KITS) >= 20


JUDGED_BY_READERS = ("/example_files", "/example_git", "/lint", "/api_fields", "/$schema")
"""What no tool is broken for: the schema says what those who read it take."""
ONLY_CODE_CAN_TELL = (
    "is also an input",
    "which cannot be read",
    "must be the directory's name",
    "must be the kit that the tool stands in",
    "linear-time engine",
    "which the schema does not have",
    "is not a declared secret",
    "is only for a project's own tools",
    ", not 1.0",
    ", not [1.0]",
    ", not [200.0]",
    "not the number 1.0",
)
"""What depends on other files or other keys; and that 1.0 is an integer is so for JSON Schema."""
ROWS = [
    (Case(**({"change": {}} | {key: row[key] for key in row if key != "problems"})), row)
    for row in broken_configs.kept()
]


def test_the_schema_takes_what_vespe_takes_and_refuses_what_it_refuses() -> None:
    ours = validator.Validator(published.read_published("tool"))
    stricter, laxer = [], []
    for case, row in ROWS:
        if ours.is_valid(case.document()) is (row["problems"] == []):
            continue
        if row["problems"]:
            said = [message for _, _, message in row["problems"]]
            laxer += [m for m in said if not any(one in m for one in ONLY_CODE_CAN_TELL)]
        else:
            stricter += [at for at in case.change if not at.startswith(JUDGED_BY_READERS)]
    assert (stricter, laxer) == ([], [])


def test_every_tool_among_the_cases_that_is_whole_is_allowed() -> None:
    ours = validator.Validator(published.read_published("tool"))
    refused, taken = [], 0
    for path in sorted((REPOSITORY / "tests/cases").rglob("tool-*/config.json")):
        document, problems = tool_directory.check(path.parent)
        if document is not None and not problems:
            judged = {key: document[key] for key in document if f"/{key}" not in JUDGED_BY_READERS}
            taken += 1
            refused += [] if ours.is_valid(judged) else [path]
    assert refused == [] and taken > 100


def test_the_reference_validator_takes_and_refuses_the_same() -> None:
    schema = published.read_published("tool")
    ours, reference = validator.Validator(schema), jsonschema.Draft202012Validator(schema)
    different = [
        case
        for case, _ in ROWS[::12]
        # Python's `$` stands before a last line feed too, and that of JSON Schema does not
        if not any(str(value).endswith("\n") for value in case.change.values())
        if ours.is_valid(case.document()) is not reference.is_valid(case.document())
    ]
    assert different == []


WHOLE_KEYS = {
    "http_request": ["query", "querystring", "headers", "cookies", "styles", "body", "auth"],
    "mcp_tool": ["command", "url", "headers", "digest"],
    "shell_command": ["argv", "stdin", "cwd", "output", "success_codes"],
}


@pytest.mark.parametrize("name", WHOLE_KEYS)
def test_the_args_that_a_type_knows_are_offered(name: str) -> None:
    args = published.read_published("tool")["$defs"][name]["properties"]["args"]
    assert set(WHOLE_KEYS[name]) <= args["properties"].keys()


@pytest.mark.parametrize("method", [*METHODS, "get", "Propfind"])
def test_every_method_that_is_sent_is_allowed(method: str) -> None:
    details = {"type": "http_request", "path": "https://h/", "entrypoint": method}
    assert both("tool", tool_with(details)) == (True, True)


@pytest.mark.parametrize("port", [0, 1, 80, 65535, 65536, "00080", "000080"])
def test_a_port_is_one_that_there_is(port: int | str) -> None:
    details = {"type": "http_request", "path": f"https://h:{port}/"}
    allowed = port not in (0, 65536, "000080")
    assert (wrong_with_url(details["path"]) is None) is allowed
    assert both("tool", tool_with(details)) == (allowed, allowed)


def test_no_character_that_can_be_printed_is_refused() -> None:
    refused = re.compile(f"[{forms.UNPRINTABLE}]")
    every = map(chr, range(0x110000))
    assert [c for c in every if refused.match(c) and c.isprintable()] == []


@pytest.mark.parametrize("entrypoint", ["run", "größe", "_a1", "函数"])
def test_a_function_of_any_script_is_allowed_as_the_entrypoint(entrypoint: str) -> None:
    assert both("tool", tool_of(entrypoint)) == (True, True)


@pytest.mark.parametrize("entrypoint", ["1a", "a-b", "a b", "", "a.b"])
def test_what_cannot_name_a_function_is_refused_as_the_entrypoint(entrypoint: str) -> None:
    assert both("tool", tool_of(entrypoint)) == (False, False)


def tool_of(entrypoint: str) -> dict[str, Any]:
    return tool_with({"type": "python_script", "path": "a.py", "entrypoint": entrypoint})


def tool_with(details: dict[str, Any]) -> dict[str, Any]:
    return {
        "uid": "tool-a",
        "name": "a",
        "schema": {"input": {"type": "object"}},
        "implementation_details": details,
    }


def test_every_key_that_vespe_reads_of_a_project_and_of_the_user_is_in_theirs() -> None:
    assert {
        *project.RESTRICTED,
        "lint",
        "tool_budget",
        "active_kits",
        "tool_resolution_order",
        "version",
    } <= keys("project")
    assert {*user_config.KEYS, "version"} <= keys("user")


def test_keys_that_tighten_are_checked_in_a_project_and_not_called_ignored() -> None:
    properties = published.read_published("project")["properties"]
    assert not any(
        "x-restricted" in properties[key] for key in ("approvals", "allow_hosts", "sandbox")
    )
    assert (
        both("project", {"sandbox": "sometimes"})
        == both("project", {"approvals": {"deny": 1}})
        == (False, False)
    )


def keys(name: str) -> set[str]:
    return set(published.read_published(name)["properties"])


def test_new_tools_refer_to_the_schemas_only_where_the_project_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    assert published.reference_from(str(tmp_path / "tools")) is None
    published.write_published(str(tmp_path / "schemas"))
    reference = published.reference_from(str(tmp_path / "tools"))
    assert (
        tmp_path / "tools" / "tool-a" / str(reference)
    ).resolve() == tmp_path / "schemas" / "tool.schema.json"
