"""The kits that ship as a user meets them: listed, activated, tested and run by the command."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.shipped_kits.shipped import DIRECTORIES, KITS, git
from tests.support.ondisk import vespe

KIT_IDS = sorted(path.name for path in KITS.iterdir())


@pytest.fixture
def configured(home: Path) -> Path:
    """A home directory like people's, with a configuration of git that leads to further files."""
    for path, text in (
        (
            ".gitconfig",
            "[user]\n\tname = Ada\n\temail = ada@example.org\n[include]\n\tpath = ~/.more\n",
        ),
        (".more", "[core]\n\texcludesFile = ~/.ignored\n"),
        (".ignored", "*.log\n"),
        (".config/git/ignore", "*.log\n"),
        (".config/git/attributes", "*.png binary\n"),
    ):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, encoding="utf-8")
    return home


@pytest.fixture
def everything(project: Path, configured: Path) -> Path:
    """A project with every kit active, of a user who has a configuration of git."""
    for kit_id in KIT_IDS:
        done = vespe("kit", "activate", kit_id, cwd=project)
        assert done.returncode == 0, done.stderr
    return project


def told(*arguments: str, cwd: Path) -> dict[str, Any]:
    """Run a command that prints JSON and succeeds."""
    done = vespe(*arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_every_kit_is_listed_whole(everything: Path) -> None:
    kits = {kit["kit_id"]: kit for kit in told("kit", "list", cwd=everything)["kits"]}
    for kit_id in KIT_IDS:
        tools = sum(path.parent.name == kit_id for path in DIRECTORIES.values())
        assert (kits[kit_id]["tools"], kits[kit_id]["problem"], kits[kit_id]["active"]) == (
            tools,
            None,
            True,
        )


def test_every_tool_is_available_or_shadowed_by_its_namesake(everything: Path) -> None:
    tools = told("tool", "list", "--all", cwd=everything)["tools"]
    assert {tool["uid"] for tool in tools} == {path.name for path in DIRECTORIES.values()}
    assert {tool["status"] for tool in tools} == {"available", "shadowed"}
    names = {
        status: {tool["name"] for tool in tools if tool["status"] == status}
        for status in ("available", "shadowed")
    }
    assert names["shadowed"] and names["shadowed"] <= names["available"]


def test_the_examples_of_every_tool_hold_through_the_command(everything: Path) -> None:
    results = told("tool", "test", *(path.name for path in DIRECTORIES.values()), cwd=everything)[
        "results"
    ]
    assert {result["uid"] for result in results} == {path.name for path in DIRECTORIES.values()}
    assert [result for result in results if not result["passed"]] == []


def test_a_newcomer_writes_a_file_and_reads_it_back(project: Path) -> None:
    assert vespe("kit", "activate", "file_io_without_git", cwd=project).returncode == 0
    done = vespe("tool", "run", "write_file", "path=hello.txt", "content=hi", cwd=project)
    assert json.loads(done.stdout) == {"path": "hello.txt", "bytes": 2, "created": True}
    assert told("tool", "run", "read_file", "path=hello.txt", cwd=project)["result"] == "hi"


def test_a_write_with_git_is_a_commit_of_the_user(project: Path, configured: Path) -> None:
    git(project, "init", "-q")
    assert vespe("kit", "activate", "file_io_with_git", cwd=project).returncode == 0
    done = told(
        "tool", "run", "write_file", "path=hello.txt", "content=hi", "message=Greet", cwd=project
    )
    assert git(project, "log", "--format=%H %an %s", "--name-only").split() == [
        done["result"]["commit"],
        "Ada",
        "Greet",
        "hello.txt",
    ]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "sub/../../x"])
def test_p17_a_path_that_leads_out_ends_with_the_code_of_bad_arguments(
    project: Path, path: str
) -> None:
    assert vespe("kit", "activate", "file_io_without_git", cwd=project).returncode == 0
    done = vespe("tool", "run", "write_file", f"path={path}", "content=x", cwd=project)
    assert done.returncode == 5 and not (project.parent / "x").exists()


def test_what_the_user_says_of_files_holds_for_the_file_tools(project: Path) -> None:
    assert vespe("kit", "activate", "file_io_without_git", cwd=project).returncode == 0
    (project / "prod.env").write_text("KEY=1\n", encoding="utf-8")
    search = ("tool", "run", "search_text", "query=KEY")
    assert [match["path"] for match in told(*search, cwd=project)["result"]["matches"]] == [
        "prod.env"
    ]
    write = ("tool", "run", "write_file", "path=.vscode/tasks.json", "content=x")
    refused = vespe(*write, cwd=project)
    assert (
        refused.returncode
        and "other programs run commands" in refused.stderr
        and not (project / ".vscode").exists()
    )
    for setting in (("files.never_read", '["*.env"]'), ("files.may_write", '[".vscode"]')):
        assert vespe("config", "set", *setting, cwd=project).returncode == 0
    found = told(*search, cwd=project)["result"]
    assert (found["matches"], found["files_skipped"]) == ([], 1)
    assert vespe("tool", "run", "read_file", "path=prod.env", cwd=project).returncode
    assert vespe(*write, cwd=project).returncode == 0
