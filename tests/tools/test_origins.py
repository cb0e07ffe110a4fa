"""What a tool was made from: compared with its copy, wherever the project is."""

import hashlib
from pathlib import Path

import pytest

from tests.support.ondisk import write_tool
from vespe.tools import directory, origins


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("origin", "copy", "change"),
    [
        ("0", "0", "none"),
        ("1", "0", "origin"),
        ("0", "1", "copy"),
        ("1", "2", "both"),
        ("1", "1", "none"),
        (None, "0", "gone"),
    ],
)
def test_each_side_is_told_from_what_was_copied(
    origin: str | None, copy: str, change: str, tmp_path: Path
) -> None:
    place = write_tool(
        tmp_path / "old/.vespe/tools/tool-a",
        implementation={"type": "python_script", "path": "a.py", "entrypoint": "f"},
        files={"a.py": copy},
        created_from={"path": "lib/a.py", "function": "f", "sha256": digest("0")},
    )
    (tmp_path / "old/lib").mkdir()
    if origin is not None:
        (tmp_path / "old/lib/a.py").write_text(origin, encoding="utf-8")
    (tmp_path / "old").rename(tmp_path / "moved")
    tool = directory.load(tmp_path / "moved" / place.relative_to(tmp_path / "old"))
    compared = origins.compared(tool)
    assert compared is not None and (compared.path, compared.change) == ("lib/a.py", change)


def test_only_a_file_of_the_project_is_kept_in_mind(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for path in ("lib/a.py", ".vespe/a.py", "../a.py"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("x", encoding="utf-8")
    (project / "link.py").symlink_to("../a.py")
    said = {
        path: origins.made_from(str(project), str(project / path), "f", b"x")
        for path in ("lib/../lib/a.py", ".vespe/a.py", "../a.py", "link.py")
    }
    assert said.pop("lib/../lib/a.py") == {
        "path": "lib/a.py",
        "function": "f",
        "sha256": digest("x"),
    }
    assert set(said.values()) == {None}


def test_the_project_of_a_tool_is_found_by_where_it_stands() -> None:
    assert origins.project_of("/p/.vespe/tools/tool-a") == "/p"
    assert origins.project_of("/kits/k/tool-a") is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"path": "", "sha256": digest("")},
        {"path": "/a", "sha256": digest("")},
        {"path": "a/../../b", "sha256": digest("")},
        {"path": "a", "sha256": "0"},
        {"path": "a", "function": 1, "sha256": digest("")},
    ],
)
def test_what_is_no_origin_is_said(value: object) -> None:
    assert origins.problem(value)
    assert not origins.problem({"path": "a", "sha256": digest(""), "note": "mine"})
