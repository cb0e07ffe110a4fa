"""Names and the scopes that have them, drawn."""

import json
import time
from pathlib import Path

from tests.support.inspecting import Pages
from tests.support.ondisk import PATIENCE_S
from vespe.features.inspector.resolution_page import cut


def test_a_name_that_two_scopes_have_is_drawn_with_the_one_that_is_meant(pages: Pages) -> None:
    config = Path(pages.site._project.root) / ".vespe/config.json"
    before = config.read_text(encoding="utf-8")
    config.write_text(
        json.dumps(json.loads(before) | {"active_kits": ["file_io_without_git"]}), encoding="utf-8"
    )
    until = time.monotonic() + PATIENCE_S
    while "read_file of file_io_without_git: the first" not in (page := pages.get("resolution")):
        assert time.monotonic() < until, "a look is shared for a while, not for ever"
    config.write_text(before, encoding="utf-8")
    assert "read_file of file_io_without_git: the first scope that has this name" in page
    assert "read_file of file_io_with_git: its kit is not active here" in page
    assert '<g class="selected">' in page


def test_one_name_is_looked_for_and_what_is_not_there_is_said(pages: Pages) -> None:
    assert "say of project_tools" in pages.get("resolution", q="SAY")
    assert "No such name" in pages.get("resolution", q="nothing_like_it")
    assert "<code>vespe tool resolve -- -x</code>" in pages.get("resolution", q="-x")


def test_a_long_name_is_cut_to_its_place() -> None:
    assert (cut("abcdef", 4), cut("abc", 4)) == ("abc…", "abc")
