"""The available tools of a project that fit a query."""

from pathlib import Path

import pytest

from tests.support.ondisk import write_tool
from vespe.projects import searched
from vespe.projects.init import found_project
from vespe.projects.workspace import open_workspace
from vespe.tools import search


@pytest.fixture(params=[5_000, 0], ids=["few", "very many"])
def project(
    home: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setattr(search, "IN_MEMORY", request.param)
    found_project(tmp_path)
    for number in range(9):
        write_tool(tmp_path / f".vespe/tools/tool-{number}", f"t{number}", description="Feed it.")
    write_tool(tmp_path / ".vespe/tools/tool-long", "long", description="Feed it with hay, daily.")
    return tmp_path


def names(project: Path, query: str, limit: int) -> list[str]:
    found = searched.find(open_workspace(project), query, limit=limit)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    return [tool.name for tool, _ in found]


def test_the_best_come_first_and_no_more_than_asked_for(project: Path) -> None:
    assert names(project, "feed", 3) == ["t0", "t1", "t2"]
    assert names(project, "hay", 3) == ["long"] and names(project, "zebra", 3) == []
    assert [tool.name for tool in searched.available(open_workspace(project))][-1] == "t8"


def test_broken_tools_make_room_for_those_after_them(project: Path) -> None:
    for number in range(9):
        config = project / f".vespe/tools/tool-{number}/config.json"
        text = config.read_text(encoding="utf-8")
        config.write_text(text.replace('"schema"', '"shema"'), encoding="utf-8")
    assert names(project, "feed", 1) == ["long"]


def test_a_directory_that_is_not_there_holds_no_tools(project: Path) -> None:
    (project / ".vespe/tools").rename(project / "elsewhere")
    assert names(project, "feed", 3) == []
