"""A tool that its user makes is there and trusted, or neither."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import gitrepo
from tests.support.ondisk import python_tool, vespe
from vespe.errors import NotTrusted, StorageError
from vespe.models import Entry, Tool
from vespe.projects import project
from vespe.projects.init import found_project
from vespe.projects.project_tools import copy_tool, create_tool
from vespe.projects.workspace import open_workspace
from vespe.tools.drafts import draft_tool
from vespe.trust import gate


@pytest.fixture
def clone(home: Path, tmp_path: Path) -> Path:
    """A project that came from elsewhere, and so is not trusted, with one tool."""
    root = tmp_path / "clone"
    python_tool(root / ".vespe/tools/tool-theirs", "theirs", "return 1")
    return root


def kit_tool(tmp_path: Path) -> Entry:
    path = python_tool(tmp_path / "kit/tool-a", "a", "return 1")
    return Entry(
        uid="tool-a",
        name="a",
        scope="kit",
        kit_id="kit",
        type="python_script",
        description="A.",
        path=str(path),
    )


def create(root: Path, name: str = "mine") -> Tool:
    return create_tool(root, draft_tool(name, "python_script", fields={}))


def granted(root: Path, tool: Tool | None = None) -> str | None:
    try:
        return gate.check(
            project.read_config(root), tool.directory if tool else None, environ={}
        ).kind
    except NotTrusted:
        return None


def records(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "state").rglob("*.json"))


def tools(root: Path) -> list[str]:
    return sorted(os.listdir(root / ".vespe/tools"))


def test_a_new_tool_of_an_untrusted_project_is_trusted_and_nothing_else_of_it(clone: Path) -> None:
    tool = create(clone)
    assert granted(clone, tool) == "tool" and granted(clone) is None
    theirs = open_workspace(clone).tool("theirs")
    assert granted(clone, theirs) is None


def test_in_a_place_that_is_trusted_nothing_more_is_kept(home: Path, tmp_path: Path) -> None:
    found_project(tmp_path / "p")
    before = records(home)
    assert granted(tmp_path / "p", create(tmp_path / "p")) == "place"
    copy_tool(tmp_path / "p", kit_tool(tmp_path))
    assert records(home) == before


def test_the_copy_of_a_kits_tool_is_the_users_own_and_that_of_the_projects_is_not(
    clone: Path, tmp_path: Path
) -> None:
    assert granted(clone, copy_tool(clone, kit_tool(tmp_path))) == "tool"
    theirs = open_workspace(clone).resolve("theirs").entry
    assert granted(clone, copy_tool(clone, theirs, name="copy")) is None


def test_p47_where_the_trust_cannot_be_kept_there_is_no_tool_and_a_retry_makes_it(
    clone: Path, home: Path, tmp_path: Path
) -> None:
    (home / "state").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="state"):
        create(clone)
    with pytest.raises(StorageError, match="state"):
        copy_tool(clone, kit_tool(tmp_path))
    assert tools(clone) == ["tool-theirs"]
    (home / "state").unlink()
    assert granted(clone, create(clone)) == "tool"


@pytest.mark.parametrize(
    ("moment", "whole"),
    [("os.rename = lambda *a: stop()", 0), ("os.rename = lambda *a: (move(*a), stop())", 1)],
)
def test_p45_a_kill_around_the_rename_leaves_no_tool_or_a_trusted_one(
    clone: Path, moment: str, whole: int
) -> None:
    code = (
        "import os, signal, sys\nfrom vespe.tools.drafts import draft_tool\nfrom "
        "vespe.projects.project_tools import create_tool\n"
        f"move = os.rename\nstop = lambda: os.kill(os.getpid(), signal.SIGKILL)\n{moment}\n"
        "create_tool(sys.argv[1], draft_tool('mine', 'python_script', fields={}))\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    assert (
        subprocess.run(
            [sys.executable, "-c", code, str(clone)], env=environment, check=False
        ).returncode
        == -signal.SIGKILL
    )
    found = [row.entry for row in open_workspace(clone).rows() if row.entry.name == "mine"]
    assert len(found) == whole
    assert all(granted(clone, open_workspace(clone).load(entry)) == "tool" for entry in found)


def test_p4_an_installed_tool_whose_bytes_changed_is_not_copied(
    project: Path, tmp_path: Path, home: Path
) -> None:
    source = gitrepo.published(tmp_path / "source", "rain")
    assert vespe("kit", "install", str(source), "--activate", "--yes", cwd=project).returncode == 0
    (script,) = home.glob("data/vespe/store/v1-*/rain/tool-rain/main.py")
    script.write_text("evil", encoding="utf-8")
    refused = vespe("tool", "copy", "rain_tool", cwd=project)
    assert refused.returncode == 4 and "tool-rain/main.py" in refused.stderr
    assert (
        vespe("kit", "sync", cwd=project).returncode == 0
        and vespe("tool", "copy", "rain_tool", cwd=project).returncode == 0
    )
