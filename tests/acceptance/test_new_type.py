"""A type of tools is one module and one row: with them everything knows it, without a member mypy
says so.
"""

import ast
import copy
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import text_file
from tests.support.installs import CHECKOUT, Install, copy_package
from vespe.calls.sandboxing import machine
from vespe.tool_types import ToolType

SOURCE = Path(str(text_file.__file__))
INSPECTED = """
import sys
from pathlib import Path
sys.path.append(sys.argv[1])
from tests.support.inspecting import Pages
pages = Pages(Path.cwd())
words = ("tool", "project_tools", sys.argv[2])
print(pages.get(*words), pages.get("trust"))
"""


class World:
    """A project, and a copy of Vespe that has one type more."""

    def __init__(self, install: Install, project: Path) -> None:
        self.install, self.project = install, project

    def run(self, *words: str, code: int = 0) -> Any:
        """Run a command that prints JSON, or a text."""
        done = self.install.run("-m", "vespe", *words, cwd=self.project)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout) if "--json" in words else done.stdout

    @property
    def config(self) -> Path:
        """The config.json of its only tool."""
        (found,) = self.project.glob(".vespe/tools/*/config.json")
        return found

    def change(self, **details: Any) -> None:
        """Change the tool's `implementation_details`, and approve what is there then."""
        document = json.loads(self.config.read_text(encoding="utf-8"))
        document["implementation_details"] |= details
        self.config.write_text(json.dumps(document), encoding="utf-8")
        self.run("trust", "--yes")


@pytest.fixture
def world(home: Path, tmp_path: Path) -> World:
    """One module and one row are put into the copy, and a tool is made."""
    install = copy_package(tmp_path / "copy")
    module = tmp_path / "copy/vespe/types/text_file.py"
    module.write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    table = tmp_path / "copy/vespe/tool_types.py"
    row = '    "text_file": "vespe.types.text_file.TEXT_FILE",\n}\n'
    before, _, after = table.read_text(encoding="utf-8").partition("}\n")
    table.write_text(before + row + after, encoding="utf-8")
    (tmp_path / "mine").mkdir()
    made = World(install, tmp_path / "mine")
    made.run("init")
    made.run("tool", "create", "greet", "--type", "text_file")
    return made


def test_it_is_created_listed_planned_run_and_exported(world: World) -> None:
    (row,) = world.run("tool", "list", "--json")["tools"]
    assert (row["name"], row["type"]) == ("greet", "text_file")
    assert world.run("tool", "run", "greet", "--json")["result"] == "hello\n"
    plan = world.run("tool", "run", "greet", "--dry-run", "--json")
    assert "text_file" in json.dumps(plan) and "greeting.txt" in json.dumps(plan)
    assert "greet" in json.dumps(world.run("export", "--as", "openai", "--json"))
    page = world.install.run("-m", "vespe", "tool", "create", "--help", cwd=world.project)
    assert "text_file" in page.stdout


def test_lint_reads_its_form_and_says_what_it_says(world: World) -> None:
    assert world.run("lint", "--json")["findings"] == []
    world.change(args={"before": "/etc/hostname"})
    (said,) = world.run("lint", "--json")["findings"]
    assert (said["rule"], said["pointer"]) == (
        "safety-literal-secret",
        "/implementation_details/args/before",
    )
    world.change(args={"before": 3})
    said = world.run("lint", "--json", code=1)["findings"]
    assert "/implementation_details/args/before" in [
        one["pointer"] for one in said if one["rule"] == "layout-implementation"
    ]
    (row,) = world.run("tool", "list", "--all", "--json")["tools"]
    assert row["status"] == "broken"


def test_a_review_shows_what_it_runs(world: World) -> None:
    (tool,) = world.run("trust", "--json", "--yes")["tools"]
    assert (tool["type"], tool["runs"]) == ("text_file", ["cat", "greeting.txt"])


def test_its_process_is_held_by_the_sandbox(world: World) -> None:
    level = machine().level
    assert world.run("tool", "run", "greet", "--json").get("sandbox", {}).get("level") == level
    if level == "off":
        pytest.skip("this machine has no sandbox")
    secret = Path.home() / ".ssh" / "id_ed25519"
    secret.parent.mkdir()
    secret.write_text("private", encoding="utf-8")
    world.change(args={"before": str(secret)})
    assert "private" not in json.dumps(world.run("tool", "run", "greet", "--json"))


def test_the_inspector_shows_it(world: World) -> None:
    page = world.install.run(
        "-c", INSPECTED, str(CHECKOUT), world.config.parent.name, cwd=world.project
    )
    assert page.returncode == 0, page.stderr
    assert "text_file" in page.stdout and "greeting.txt" in page.stdout


def test_each_member_that_is_left_out_is_an_error_of_mypy(tmp_path: Path) -> None:
    """One module has the type once for each member, every time without it."""
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    (whole,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    members = {*ToolType.__annotations__} | {
        name for name, value in vars(ToolType).items() if inspect.isfunction(value)
    }
    members -= {name for name in members if name.startswith("_")}
    parts = [
        ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    for member in sorted(members):
        lacking = copy.deepcopy(whole)
        lacking.name = f"Without_{member}"
        lacking.body = [node for node in whole.body if _name(node) != member]
        assert len(lacking.body) == len(whole.body) - 1, member
        parts += [ast.unparse(lacking), f"without_{member}: ToolType = Without_{member}()"]
    module = tmp_path / "lacking.py"
    module.write_text("\n".join(parts), encoding="utf-8")
    # what these two import is not looked at, which takes a tenth of the time
    options = ("--follow-imports=skip", f"--cache-dir={os.devnull}", "--no-error-summary")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, module, "vespe/tool_types.py"],
        cwd=CHECKOUT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    told = {
        member for member in members if f'expression has type "Without_{member}"' in done.stdout
    }
    assert len(members) >= 20 and told == members, done.stdout + done.stderr


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.target)
    return node.name if isinstance(node, ast.FunctionDef) else ""
