"""Trust in a process that lives."""

import time
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


def test_a_grant_of_the_environment_ends_with_the_variable(home: Path, tmp_path: Path) -> None:
    (tmp_path / ".vespe").mkdir()
    environ = {"VESPE_TRUSTED_PATHS": str(tmp_path)}
    time.sleep(0.2)  # what is older than that is kept
    live = LiveTrust(read_config(tmp_path), environ=environ)
    assert [live.check().kind for _ in range(3)] == ["environment"] * 3
    assert live.kept() is not None
    for value in ("", "/elsewhere"):
        environ["VESPE_TRUSTED_PATHS"] = value
        with pytest.raises(NotTrusted):
            live.check()
    environ["VESPE_TRUSTED_PATHS"] = str(tmp_path)
    assert live.check().kind == "environment"


def test_a_grant_of_a_place_needs_no_variable(home: Path, tmp_path: Path) -> None:
    found_project(tmp_path)
    environ = {"VESPE_TRUSTED_PATHS": str(tmp_path)}
    time.sleep(0.2)
    live = LiveTrust(read_config(tmp_path), environ=environ)
    assert live.check().kind == "environment"
    del environ["VESPE_TRUSTED_PATHS"]
    assert [live.check().kind for _ in range(3)] == ["place"] * 3
    gate.untrust(tmp_path)
    environ["VESPE_TRUSTED_PATHS"] = "/elsewhere"
    with pytest.raises(NotTrusted):
        live.check()
