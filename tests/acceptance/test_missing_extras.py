"""What needs an extra of Vespe's, in an environment without it: one exit code and a sentence that
names the extra.
"""

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.features.releases.released import kit_in_git
from tests.support.installs import Install, install_without
from tests.support.mcp_servers import ByHand
from tests.support.ondisk import python_tool
from tests.support.ondisk import vespe as vespe_here

EXTRAS = ("mcp", "uvicorn", "hypothesis_jsonschema", "tiktoken", "git", "pydantic_monty")
"""A module of each extra."""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """A virtual environment with all that this one has, but the extras."""
    return install_without(tmp_path_factory.mktemp("environment") / "bare", *EXTRAS)


@pytest.fixture
def vespe(install: Install, project: Path) -> Run:
    return partial(install.run, "-m", "vespe", cwd=project)


def test_every_verb_that_needs_the_mcp_sdk_says_so_alike(
    vespe: Run, project: Path, tmp_path: Path
) -> None:
    server = ByHand(tmp_path / "server")
    made = vespe_here(
        "kit", "add-mcp", "things", "--yes", "--activate", "--", *server.command, cwd=project
    )
    assert made.returncode == 0, made.stderr
    for module, verb in (
        ("uvicorn", ("mcp", "serve", "--http", "127.0.0.1:0")),
        ("mcp", ("kit", "add-mcp", "others", "--yes", "--", *server.command)),
        ("mcp", ("kit", "add-mcp", "things", "--update", "--yes")),
        ("mcp", ("tool", "run", "echo", "text=hi")),
    ):
        said = vespe(*verb)
        assert said.returncode == 2 and said.stdout == "", said
        needs = f"needs the extra vespe[mcp]: the module {module} is missing, or too old"
        assert needs in said.stderr
        assert (
            "pip install" in said.stderr
            and "[mcp]" in said.stderr
            and "Traceback" not in said.stderr
        )
    outcome = json.loads(vespe("tool", "run", "echo", "text=hi", "--json").stdout)
    assert outcome["error"]["code"] == "missing_extra" and outcome["error"]["details"] == {
        "extra": "mcp",
        "module": "mcp",
    }


def test_programs_say_what_they_need_in_the_same_way(vespe: Run, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("1 + 1\n", encoding="utf-8")
    for verb in ("run", "check"):
        said = vespe("program", verb, str(tmp_path / "p.py"))
        assert said.returncode == 2 and "Traceback" not in said.stderr
        assert "running programs needs the extra vespe[code]" in said.stderr


def test_fuzzing_says_what_it_needs_in_the_same_way(vespe: Run, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-mine", "mine", "return 'mine'")
    said = vespe("tool", "fuzz", "mine", "--seconds", "1")
    assert said.returncode == 2
    assert (
        "needs the extra vespe[fuzz]: the module hypothesis_jsonschema is missing, or too old"
        in said.stderr
    )
    assert "pip install" in said.stderr and "[fuzz]" in said.stderr


def test_a_release_says_what_it_needs_in_the_same_way(vespe: Run, tmp_path: Path) -> None:
    kit = kit_in_git(tmp_path / "mine")
    said = vespe("kit", "release", str(kit))
    assert said.returncode == 2 and "Traceback" not in said.stderr
    assert (
        "`vespe kit release` needs the extra vespe[release]: the module git is missing, or too old"
        in said.stderr
    )


def test_what_an_extra_only_makes_better_works_without_it(vespe: Run, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-mine", "mine", "return 'mine'")
    said = vespe("tool", "list", "--size", "--json")
    assert said.returncode == 0 and said.stderr == "", said.stderr
    assert json.loads(said.stdout)["tools"][0]["sizes"]
