"""The published schemas: complete, taken by JSON Schema's reference validator, and found by
editors.
"""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from vespe.projects import project, user_config
from vespe.schemas import published, validator
from vespe.tools import fields

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


@pytest.mark.parametrize("entrypoint", ["run", "größe", "_a1", "函数"])
def test_a_function_of_any_script_is_allowed_as_the_entrypoint(entrypoint: str) -> None:
    assert both("tool", tool_of(entrypoint)) == (True, True)


@pytest.mark.parametrize("entrypoint", ["1a", "a-b", "a b", "", "a.b"])
def test_what_cannot_name_a_function_is_refused_as_the_entrypoint(entrypoint: str) -> None:
    assert both("tool", tool_of(entrypoint)) == (False, False)


def tool_of(entrypoint: str) -> dict[str, Any]:
    details = {"type": "python_script", "path": "a.py", "entrypoint": entrypoint}
    return {
        "uid": "tool-a",
        "name": "a",
        "schema": {"input": {"type": "object"}},
        "implementation_details": details,
    }


def test_every_key_that_vespe_reads_of_a_tool_is_in_its_schema() -> None:
    known = published.read_published("tool")["properties"].keys()
    assert set(fields.KEYS) <= known


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
