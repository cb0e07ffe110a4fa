"""What changed for models: two states of a project, seen through what its `tools` make of them."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool
from vespe.errors import NotFound, UsageError
from vespe.projects import project as projects
from vespe.projects.compared_views import compare_views, opened_at
from vespe.projects.workspace import open_workspace

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["a"],
}


def commit(root: Path) -> None:
    who = ("-c", "user.name=T", "-c", "user.email=t@example.invalid")
    for arguments in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "one")):
        subprocess.run(["git", *arguments], cwd=root, check=True)


@pytest.fixture
def committed(project: Path) -> Path:
    for name in ("greet", "other"):
        python_tool(project / f".vespe/tools/tool-{name}", name, "return 1", schema=SCHEMA)
    commit(project)
    return project


def say(root: Path, **tools: Any) -> None:
    projects.update_config(str(root), lambda document: document.update({"tools": tools}))


def changed(root: Path) -> list[tuple[str, str, str, str, str]]:
    with opened_at("HEAD", root=str(root)) as before:
        found = compare_views(before, open_workspace(root))
    return [
        (change.verdict, one.tool, change.part, change.pointer, change.side)
        for one in found
        for change in one.changes
    ]


def test_a_project_that_says_nothing_new_shows_what_it_showed(committed: Path) -> None:
    assert changed(committed) == []


def test_what_runs_is_nothing_that_models_see(committed: Path) -> None:
    (committed / ".vespe/tools/tool-greet/main.py").write_text(
        "def greet(**inputs):\n    return 2\n", encoding="utf-8"
    )
    assert changed(committed) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"as": "hello"}, ("breaking", "hello", "name", "/tools/greet/as", "new")),
        ({"hide": ["n"]}, ("breaking", "greet", "input", "/schema/input/properties/n", "old")),
        ({"expose": "never"}, ("breaking", "greet", "tool", "", "old")),
        ({"expose": "search"}, ("compatible", "greet", "expose", "/tools/greet/expose", "new")),
        (
            {"description": "Say hello."},
            ("compatible", "greet", "description", "/tools/greet/description", "new"),
        ),
    ],
)
def test_each_thing_that_the_view_says_is_a_change_with_its_place(
    committed: Path, said: Any, expected: tuple[str, ...]
) -> None:
    say(committed, greet=said)
    assert changed(committed) == [expected]


def test_another_preset_is_a_change_that_no_model_sees(committed: Path) -> None:
    say(committed, greet={"preset": {"n": 1}})
    commit(committed)
    say(committed, greet={"preset": {"n": 2}})
    assert changed(committed) == [("unknown", "greet", "preset", "/tools/greet/preset/n", "new")]
    say(committed)
    assert ("unknown", "greet", "preset", "/tools/greet/preset/n", "old") in changed(committed)


def test_a_tool_of_the_project_is_compared_as_it_was_then(committed: Path) -> None:
    python_tool(committed / ".vespe/tools/tool-new", "new", "return 1", schema=SCHEMA)
    assert changed(committed) == [("compatible", "new", "tool", "", "new")]


def test_what_git_does_not_know_is_said(committed: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="not a git revision"),
        opened_at("nosuch", root=str(committed)),
    ):
        pass
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(NotFound), opened_at("HEAD", root=str(tmp_path / "elsewhere")):
        pass
