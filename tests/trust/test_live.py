"""Trust in a process that lives."""

from pathlib import Path

import pytest

from tests.support.ondisk import approve_bytes, python_tool
from vespe.errors import NotTrusted
from vespe.projects.init import found_project
from vespe.projects.project import read_config
from vespe.trust import gate
from vespe.trust.live import LiveTrust


def test_a_place_stays_trusted_until_the_approval_is_taken_back(home: Path, tmp_path: Path) -> None:
    found_project(tmp_path)
    live = LiveTrust(read_config(tmp_path), environ={})
    assert [live.check().kind for _ in range(3)] == ["place"] * 3
    gate.untrust(tmp_path)
    with pytest.raises(NotTrusted):
        live.check()


def test_p2_bytes_that_were_approved_are_looked_at_each_time(home: Path, tmp_path: Path) -> None:
    found_project(tmp_path)
    script = python_tool(tmp_path / ".vespe/tools/tool-a", "a", "return 1") / "main.py"
    gate.untrust(tmp_path)
    approve_bytes(tmp_path)
    live = LiveTrust(read_config(tmp_path), environ={})
    assert live.check().kind == "content"
    script.write_text("def a(**inputs):\n    return 2\n", encoding="utf-8")
    with pytest.raises(NotTrusted, match=r"main\.py"):
        live.check()


def test_the_callers_word_needs_no_approval(home: Path, tmp_path: Path) -> None:
    (tmp_path / ".vespe").mkdir()
    assert LiveTrust(read_config(tmp_path), environ={}, trusted=True).check().kind == "flag"
