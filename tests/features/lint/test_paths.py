"""What a PATH is."""

from pathlib import Path

import pytest

from tests.support.ondisk import write_kit, write_tool
from vespe.errors import NotFound
from vespe.features.lint.paths import LintPath, places, tool_directories, touched


def kinds(*paths: Path) -> list[tuple[str, str]]:
    return [(place.kind, Path(place.path).name) for place in places(map(str, paths))]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    write_tool(base / ".vespe" / "tools" / "tool-a", files={"main.py": "", "data.json": "{}"})
    (base / ".vespe" / "config.json").write_text("{}", encoding="utf-8")
    write_tool(write_kit(base / "kits", "web") / "tool-b")
    (base / "tools.json").write_text("[]", encoding="utf-8")
    return base


def test_each_kind_of_place_is_told_apart(root: Path) -> None:
    tools = root / ".vespe" / "tools"
    assert kinds(root) == kinds(root / ".vespe") == [("project", "base")]
    assert kinds(root / "kits" / "web") == kinds(root / "kits") == [("kit", "web")]
    assert kinds(tools) == [("tools", "tools")]
    assert kinds(tools / "tool-a") == [("tool", "tool-a")]
    assert kinds(root / "tools.json") == [("file", "tools.json")]


def test_a_file_means_what_it_belongs_to(root: Path) -> None:
    tool = root / ".vespe" / "tools" / "tool-a"
    assert kinds(
        *(tool / name for name in ("config.json", "description.md", "main.py", "data.json"))
    ) == [("tool", "tool-a")]
    assert kinds(root / ".vespe" / "config.json") == [("project_config", "config.json")]
    assert kinds(root / "kits" / "web" / "kit_config.json") == [("kit_config", "kit_config.json")]


def test_a_tool_of_a_kit_knows_its_kit(root: Path) -> None:
    [place] = places([str(root / "kits" / "web" / "tool-b")])
    assert place.kit_id == "web"
    assert LintPath("tool", str(root / ".vespe" / "tools" / "tool-a")).kit_id is None
    assert LintPath("kit", str(root / "kits" / "web")).kit_id == "web"


def test_a_config_of_another_program_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    assert kinds(tmp_path / "config.json") == [("file", "config.json")]


def test_the_same_place_comes_once_and_nothing_is_not_found(root: Path, tmp_path: Path) -> None:
    assert kinds(root, root) == [("project", "base")]
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(NotFound):
            kinds(path)


def test_tool_directories_are_those_that_look_like_tools(root: Path) -> None:
    tools = root / ".vespe" / "tools"
    for name in ("tool-empty", ".hidden", "plain"):
        (tools / name).mkdir()
    (tools / "tool-file").write_text("", encoding="utf-8")
    write_tool(tools / "odd")
    assert tool_directories(str(tools)) == ["odd", "tool-a", "tool-empty"]
    assert tool_directories(str(root / "nowhere")) == []


def test_without_a_revision_everything_is_touched(tmp_path: Path) -> None:
    assert touched(str(tmp_path), None)
    assert touched(str(tmp_path), {str(tmp_path.resolve())})
    assert not touched(str(tmp_path / "a"), {str(tmp_path.resolve())})
