"""A permission is added in two places: `vespe/models.py` has its name, form and words, the sandbox
has what it means.

The test adds one to a copy of the package, and asks everything that treats permissions for it.
"""

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.installs import CHECKOUT, copy_package
from tests.support.ondisk import python_tool
from vespe.calls.sandboxing import machine

Run = Callable[..., "subprocess.CompletedProcess[str]"]
ADDED = (
    (
        "models.py",
        "    memory_mb: int | None = None\n",
        "    memory_mb: int | None = None\n    devices: tuple[str, ...] | None = None\n",
    ),
    (
        "models.py",
        '    "memory_mb": Permission(',
        '    "devices": Permission(\n'
        '        description="Devices that it may open.",\n'
        '        values="path",\n'
        '        verb="open",\n'
        "    ),\n"
        '    "memory_mb": Permission(',
    ),
    (
        "processes/sandbox/policy.py",
        "for path in _DEVICES:",
        "for path in (*_DEVICES, *(self._permissions.devices or ())):",
    ),
)
HELD = """
from vespe.calls.sandboxing import machine
from vespe.processes.sandbox.policy import ToolSurroundings, policy
from vespe.tools.permissions import permissions_of
stated = permissions_of({"devices": ["/dev/tty"]})
where = ToolSurroundings(project="/", directory="/usr", scratch="/tmp")
made = policy(machine(), machine().level, stated, where)
print(stated.devices, any(path == b"/dev/tty" for path, _ in made.message["rules"]))
"""
RENDERED = f"""
import sys
sys.path.append({str(CHECKOUT)!r})
from tests.support import render_schema
render_schema.main()
"""


@pytest.fixture
def run(project: Path, tmp_path: Path) -> Run:
    """Run Python in a project, with a copy of the package that has the permission `devices`."""
    install = copy_package(tmp_path / "copy")
    for name, old, new in ADDED:
        module = install.directory / "vespe" / name
        text = module.read_text(encoding="utf-8")
        assert text.count(old) == 1, name
        module.write_text(text.replace(old, new), encoding="utf-8")
    return partial(install.run, cwd=project)


def make(project: Path, permissions: dict[str, Any]) -> None:
    examples = [{"input": {}, "output": 1}]
    place = project / ".vespe/tools/tool-t"
    python_tool(place, "t", "return 1", examples=examples, permissions=permissions)


@pytest.mark.skipif(machine().level == "off", reason="nothing is held without a sandbox")
def test_it_is_read_and_held(run: Run) -> None:
    assert run("-c", HELD).stdout.strip() == "('/dev/tty',) True"


def test_its_form_is_checked_and_published(run: Run, project: Path) -> None:
    done = run("-c", RENDERED)
    assert done.returncode == 0, done.stderr
    make(project, {"devices": 5})
    broken = run("-m", "vespe", "tool", "list", "--all").stdout
    assert "`permissions.devices` must be a list" in broken
    published = json.loads(run("-m", "vespe", "schema", "tool").stdout)
    assert published["properties"]["permissions"]["properties"]["devices"] == {
        "type": "array",
        "items": {"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$"},
        "description": "Devices that it may open.",
    }


def test_a_review_shows_it(run: Run, project: Path) -> None:
    make(project, {"devices": ["/dev/tty"]})
    shown = run("-m", "vespe", "trust")
    assert shown.returncode == 0 and "/dev/tty" in shown.stdout + shown.stderr, shown


@pytest.mark.skipif(machine().level == "off", reason="nothing is observed without a sandbox")
def test_what_is_observed_has_it(run: Run, project: Path) -> None:
    make(project, {"devices": ["/dev/tty"]})
    done = run("-m", "vespe", "trust")
    assert done.returncode == 0, done.stderr
    done = run("-m", "vespe", "tool", "observe", "t", "--json")
    assert json.loads(done.stdout)["permissions"]["devices"] == [], done.stderr
