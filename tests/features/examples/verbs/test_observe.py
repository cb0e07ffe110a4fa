"""`vespe tool observe`: shown, and written where it is asked for."""

import json
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, vespe
from vespe.calls.sandboxing import machine

pytestmark = pytest.mark.skipif(
    machine().level == "off", reason="nothing can be observed without a sandbox"
)


def test_what_is_observed_is_written_and_its_examples_pass_under_it(project: Path) -> None:
    directory = python_tool(
        project / ".vespe/tools/tool-t", "t", "return 1", examples=[{"input": {}, "output": 1}]
    )
    assert vespe("trust", "--yes", cwd=project).returncode in (0, 2)
    done = vespe("tool", "observe", "t", "--write", "--json", cwd=project)
    expected: dict[str, list[str]] = {"read": [], "write": [], "network": [], "programs": []}
    assert done.returncode == 0 and json.loads(done.stdout)["permissions"] == expected, done.stderr
    assert (
        json.loads((directory / "config.json").read_text(encoding="utf-8"))["permissions"]
        == expected
    )
    told = vespe("tool", "observe", "t", "--write", cwd=project)
    place = (directory / "config.json").relative_to(project)
    assert told.stderr.splitlines()[-1] == f"wrote the permissions to {place}"
