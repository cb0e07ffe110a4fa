"""What the pages know of a project: read once, and again where it changed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.inspecting import Pages
from tests.support.ondisk import python_tool
from vespe.cli.inspect import inspected
from vespe.errors import NotFound
from vespe.models import Row
from vespe.projects.view import view_of
from vespe.projects.workspace import Workspace


def _counted(reads: list[Workspace]) -> Callable[[Workspace], tuple[Row, ...]]:
    rows = Workspace.rows

    def counted(self: Workspace) -> tuple[Row, ...]:
        reads.append(self)
        return rows(self)

    return counted


def test_tools_are_read_anew_only_where_something_changed(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, reads = pages.site._project, list[Workspace]()
    monkeypatch.setattr(inspected, "settled", lambda stamps: all(stamps) or True)
    monkeypatch.setattr(Workspace, "rows", _counted(reads))
    known.rows()
    known._due = 0.0
    before = known.rows()
    seen = len(reads)
    known._due = 0.0
    assert known.rows() is before
    assert len(reads) == seen
    made = python_tool(Path(known.root) / ".vespe/tools/tool-new", "new", "return 1")
    known._due = 0.0
    assert "new" in [row.entry.name for row in known.rows()]
    shutil.rmtree(made)


def test_a_tool_of_no_name_is_not_found(pages: Pages) -> None:
    with pytest.raises(NotFound, match="tool-gone"):
        pages.site._project.row("project_tools", "tool-gone")


def test_a_trusted_project_refuses_nothing(pages: Pages) -> None:
    known = pages.site._project
    assert known.trusted_as() == "place"
    assert known.refusal() is None
    assert (
        not known.is_approved_alone(known.row("project_tools", "tool-say").entry)
        or known.trusted_as()
    )


def test_all_tools_are_shown_by_one_look_at_the_project_and_broken_ones_are_left_out(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, looks = pages.site._project, list[Workspace]()
    monkeypatch.setattr(
        Workspace, "view", property(lambda self: looks.append(self) or view_of(self.config))
    )  # type: ignore[func-returns-value]  # None
    known._due = 0.0
    rows = known.rows()
    shown = [tool.uid for tool in known.shown(rows)]
    assert (
        shown == [row.entry.uid for row in rows if row.status == "available"]
        and len(shown) > 1
        and len(looks) == 1
    )
