"""`vespe tool expose`, and the commands that show what it wrote."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool

Command = Callable[..., Any]


SCHEMA = {
    "type": "object",
    "properties": {"owner": {"type": "string"}, "title": {"type": "string"}},
    "required": ["owner", "title"],
}


def write(project: Path, name: str) -> None:
    python_tool(project / f".vespe/tools/tool-{name}", name, "return inputs", schema=SCHEMA)


@pytest.fixture
def issue(command: Command, project: Path) -> Command:
    write(project, "issue")
    assert (
        command(
            "tool", "expose", "issue", "--as", "new_issue", "--preset", "owner=acme", "--always"
        ).code
        == 0
    )
    return command


def said(project: Path) -> Any:
    return json.loads((project / ".vespe/config.json").read_text(encoding="utf-8")).get("tools")


def test_what_is_said_is_written_and_added_to(issue: Command, project: Path) -> None:
    assert said(project) == {
        "issue": {"expose": "always", "as": "new_issue", "preset": {"owner": "acme"}}
    }
    issue("tool", "expose", "issue", "--search", "--preset", "n:=1")
    assert said(project)["issue"] == {
        "expose": "search",
        "as": "new_issue",
        "preset": {"owner": "acme", "n": 1},
    }
    issue("tool", "expose", "issue", "--reset")
    assert said(project) is None


def test_a_list_for_models_shows_what_they_see(issue: Command) -> None:
    (row,) = issue("tool", "list", "--as-models", "--json").document["tools"]
    assert (row["name"], row["is"], list(row["input_schema"]["properties"])) == (
        "new_issue",
        "project_tools/issue",
        ["title"],
    )
    assert row["expose"] == "always" and "new_issue" in issue("tool", "list", "--as-models").out
    assert issue("tool", "list", "--json").document["tools"][0]["name"] == "issue"


def test_resolve_says_where_each_part_comes_from_by_either_name(issue: Command) -> None:
    for name in ("issue", "new_issue"):
        assert "/tools/issue/preset" in issue("tool", "resolve", name).out
    facts = issue("tool", "resolve", "new_issue", "--json").document
    assert facts["uid"].startswith("tool-") and {fact["key"] for fact in facts["as_models"]} == {
        "as",
        "preset",
        "expose",
    }


def test_size_and_export_are_of_what_models_see(issue: Command) -> None:
    before = issue("export", "--as", "openai").document[0]["function"]
    assert before["name"] == "new_issue" and "owner" not in json.dumps(before)
    assert issue("tool", "list", "--size", "--json").document["tools"][0]["name"] == "new_issue"
    issue("tool", "expose", "issue", "--never")
    assert (
        issue("export", "--as", "openai").document == []
        and issue("export", "--as", "openai", "issue").code == 3
    )


def test_a_snapshot_notes_what_models_see(issue: Command) -> None:
    issue("tool", "resolve", "--snapshot", "s.json")
    assert issue("tool", "resolve", "--check", "s.json").code == 0
    issue("tool", "expose", "issue", "--preset", "owner=other")
    told = issue("tool", "resolve", "--check", "s.json")
    assert told.code == 1 and "shown to models differently" in told.out
    issue("tool", "expose", "issue", "--as", "newer")
    assert "+ newer" in issue("tool", "resolve", "--check", "s.json").out


def test_lint_finds_what_breaks_the_schema(issue: Command) -> None:
    assert "layout-view" not in issue("lint").out
    issue("tool", "expose", "issue", "--preset", "owner:=7")
    found = issue("lint")
    assert found.code == 1 and "error layout-view" in found.out and "owner" in found.out


def test_lint_judges_the_names_that_models_see(issue: Command, project: Path) -> None:
    write(project, "other")
    issue("tool", "expose", "other", "--as", "new_issue")
    assert "another tool already has the name 'new_issue'" in issue("lint").out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["issue"], 2),
        (["nowhere", "--never"], 3),
        (["iss*", "--as", "x"], 2),
        (["issue", "--preset", "owner"], 2),
        (["issue", "--as", "two words"], 4),
        (["nowhere/*", "--never"], 0),
    ],
)
def test_what_cannot_be_said_is_refused_and_writes_nothing(
    issue: Command, project: Path, words: list[str], code: int
) -> None:
    before = said(project)
    told = issue("tool", "expose", *words)
    assert told.code == code and (code == 0 or said(project) == before)
