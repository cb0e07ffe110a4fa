"""Settings of a project: what its user may set, and what becomes of the project's approval."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import approve_bytes, python_tool
from vespe.errors import NotFound, NotTrusted, Refused, UsageError
from vespe.projects import project, project_settings, user_config
from vespe.trust import gate


def said(root: Path) -> Any:
    return json.loads((root / ".vespe/config.json").read_text(encoding="utf-8"))


def is_trusted(root: Path) -> bool:
    try:
        gate.check(project.read_config(root), environ={})
    except NotTrusted:
        return False
    return True


def test_a_setting_is_written_and_removed_with_what_held_it(project: Path) -> None:
    (project / ".vespe/config.json").write_text(
        '{"x_own": 1, "lint": {"select": ["flow"]}}', encoding="utf-8"
    )
    project_settings.set_value(project, "tool_budget", 4000)
    project_settings.set_value(project, "lint.ignore.name-case", "a reason")
    project_settings.set_value(project, "approvals.deny", ["rm"])
    assert said(project) == {
        "x_own": 1,
        "lint": {"select": ["flow"], "ignore": {"name-case": "a reason"}},
        "tool_budget": 4000,
        "approvals": {"deny": ["rm"]},
    }
    for key in ("lint.ignore.name-case", "tool_budget", "approvals.deny"):
        project_settings.unset_value(project, key)
    assert said(project) == {"x_own": 1, "lint": {"select": ["flow"]}}
    with pytest.raises(NotFound):
        project_settings.unset_value(project, "tool_budget")


@pytest.mark.parametrize(
    "key",
    [
        "secrets.X",
        "approvals",
        "approvals.allow",
        "allow_hosts",
        "trust",
        "tool_bugdet",
        "lint.",
        "",
    ],
)
def test_what_only_the_user_says_is_refused(project: Path, key: str) -> None:
    before = (project / ".vespe/config.json").read_bytes()
    with pytest.raises(Refused) as caught:
        project_settings.set_value(project, key, "x")
    assert caught.value.hint and (project / ".vespe/config.json").read_bytes() == before
    assert (caught.value.hint == "did you mean tool_budget?") is (key == "tool_bugdet")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tool_budget", 0),
        ("active_kits", "a"),
        ("lint.severity.name-case", "loud"),
        ("tools.x.expos", "always"),
        ("approvals.flow", "maybe"),
        ("sandbox", "sometimes"),
        ("tool_budget.x", 1),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_refused(
    project: Path, key: str, value: object
) -> None:
    before = (project / ".vespe/config.json").read_bytes()
    with pytest.raises((UsageError, Refused)):
        project_settings.set_value(project, key, value)
    assert (project / ".vespe/config.json").read_bytes() == before


def test_a_project_only_tightens_the_sandbox(project: Path) -> None:
    with pytest.raises(Refused, match="only make the sandbox stricter"):
        project_settings.set_value(project, "sandbox", "off")
    user_config.set_value("sandbox", "require")
    with pytest.raises(Refused, match="than your own setting, require"):
        project_settings.set_value(project, "sandbox", "auto")
    assert (
        project_settings.set_value(project, "sandbox", "require").document["sandbox"] == "require"
    )


def test_an_approval_goes_on_to_hold_for_the_change_alone(project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1")
    gate.untrust(project)
    project_settings.set_value(project, "active_kits", ["one"])
    assert not is_trusted(project)
    approve_bytes(project)
    assert is_trusted(project)
    project_settings.set_value(project, "active_kits", ["one", "two"])
    project_settings.set_value(project, "tools.a.as", "other")
    assert is_trusted(project)
    document = said(project)
    document["active_kits"].append("three")
    (project / ".vespe/config.json").write_text(json.dumps(document), encoding="utf-8")
    assert not is_trusted(project)
    # What others wrote is not approved by a change beside it.
    project_settings.set_value(project, "tool_budget", 5)
    project_settings.set_value(project, "active_kits", ["one", "three"])
    assert not is_trusted(project)


def test_a_value_is_found_under_its_key() -> None:
    document = {"tools": {"a": {"as": "b"}}, "tool_budget": 1}
    assert project_settings.get_value(document, "tools.a.as") == "b"
    assert project_settings.get_value(document, "tool_budget.x") is None
    assert project_settings.is_known("tools.a.as") and not project_settings.is_known("secrets.A")


def test_the_settings_are_those_of_the_published_schema() -> None:
    from vespe.schemas import published

    properties = published.read_published("project")["properties"]
    assert {key.partition(".")[0] for key in project_settings.KEYS} == {
        key
        for key, schema in properties.items()
        if "x-restricted" not in schema and key not in ("$schema", "version", "allow_hosts")
    }
    assert os.path.basename(published.file_name("project")) == "project.schema.json"
