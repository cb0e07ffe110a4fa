"""`vespe program check`: what is wrong is said, and nothing runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool

pytest.importorskip("pydantic_monty")


def test_nothing_runs(command: Callable[..., Any], project: Path, tmp_path: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "open('ran', 'w'); return 1")
    file = tmp_path / "p.py"
    file.write_text("one()\n", encoding="utf-8")
    done = command("program", "check", str(file))
    assert done.code == 0 and "no problems found; it calls one" in done.err
    assert command("program", "check", str(file), "--json").document == {
        "ok": True,
        "tools": ["one"],
    }
    file.write_text("one(x=1)\nmissing\n", encoding="utf-8")
    done = command("program", "check", str(file))
    assert done.code == 5 and f"{file}:1: " in done.err and f"{file}:2: " in done.err
    done = command("program", "check", str(file), "--json")
    assert done.code == 5 and done.document["error"]["code"] == "invalid_program"
    assert not (project / "ran").exists()
    assert command("log", "--json").document["calls"] == []
