"""A recording held against the project as it is now."""

import json
from pathlib import Path

from tests.support.inspecting import Pages
from vespe.features.inspector import replay


def test_a_project_that_did_not_change_says_the_same(talk: Path, pages: Pages) -> None:
    done = replay.replayed(pages.site._project.path, str(talk))
    assert (done.differences, done.turns, done.recorded, done.stopped) == ((), 2, 2, "")


def test_every_difference_is_named_with_its_tool_and_no_tool_runs(talk: Path, pages: Pages) -> None:
    config = talk.parent / ".vespe/tools/tool-read/config.json"
    before = config.read_text(encoding="utf-8")
    config.write_text(
        json.dumps(json.loads(before) | {"description": "Another thing.", "name": "look"}),
        encoding="utf-8",
    )
    done = replay.replayed(pages.site._project.path, str(talk))
    config.write_text(before, encoding="utf-8")
    assert {(each.tool, each.difference.pointer) for each in done.differences} == {
        ("look", "/tools/function/description")
    }
    assert done.differences[0].difference.now == "Another thing."
    assert done.turns == 2


def test_a_tool_that_is_gone_and_an_empty_recording_are_told(
    talk: Path, pages: Pages, tmp_path: Path
) -> None:
    tool = talk.parent / ".vespe/tools/tool-read"
    tool.rename(tmp_path / "tool-read")
    done = replay.replayed(pages.site._project.path, str(talk))
    (tmp_path / "tool-read").rename(tool)
    assert any(each.tool == "look" and not each.difference.is_there for each in done.differences)
    empty = tmp_path / "empty.json"
    document = json.loads(talk.read_text(encoding="utf-8"))
    empty.write_text(json.dumps(document | {"turns": [], "outcomes": []}), encoding="utf-8")
    assert replay.replayed(pages.site._project.path, str(empty)).recorded == 0
