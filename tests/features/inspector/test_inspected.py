"""What the pages know of a project: read once, and again where it changed."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support import accesses
from tests.support.accesses import Accesses
from tests.support.inspecting import Pages
from tests.support.ondisk import python_tool
from vespe.errors import NotFound


def test_tools_are_read_anew_only_where_something_changed(pages: Pages) -> None:
    known = pages.site._project
    tools = Path(known.root) / ".vespe/tools"
    before = known.rows()
    with Accesses(*tools.iterdir(), kind=accesses.OPENED) as opened:
        known._due = 0.0
        assert known.rows() is before and opened.taken() == set()
        made = python_tool(tools / "tool-new", "new", "return 1")
        known._due = 0.0
        assert "new" in [row.entry.name for row in known.rows()]
        assert tools / "tool-say/config.json" in opened.taken()
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
    pages: Pages,
) -> None:
    known = pages.site._project
    gone = python_tool(Path(known.root) / ".vespe/tools/tool-gone", "gone", "return 1")
    known._due = 0.0
    rows = known.rows()
    shutil.rmtree(gone)
    config = Path(known.root) / ".vespe/config.json"
    written = config.read_bytes()
    later = {**json.loads(written), "tools": {"*": {"description": "Later."}}}
    shown = known.shown(rows)
    seen = [next(shown)]
    try:
        config.write_text(json.dumps(later), encoding="utf-8")
        seen += shown
        assert {tool.description for tool in known.shown(rows)} == {"Later."}
    finally:
        config.write_bytes(written)
    available = [row.entry.uid for row in rows if row.status == "available"]
    assert "tool-gone" in available
    assert [one.uid for one in seen] == [uid for uid in available if uid != "tool-gone"]
    assert len(seen) > 1 and "Later." not in [tool.description for tool in seen]
