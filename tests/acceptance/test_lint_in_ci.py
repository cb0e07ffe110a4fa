"""Lint where CI runs it: the pre-commit hooks on a real repository, the composite action's own
script, a git history.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.ondisk import write_tool

ROOT = Path(__file__).resolve().parent.parent.parent
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
ACTION = ROOT / ".github" / "actions" / "lint" / "action.yml"
IDENTITY = (
    "-c",
    "user.name=Test",
    "-c",
    "user.email=test@example.com",
    "-c",
    "commit.gpgsign=false",
)


def run(*argv: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **env}
    return subprocess.run(
        argv,
        cwd=cwd,
        env=kept,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def git(cwd: Path, *arguments: str) -> str:
    done = run("git", *IDENTITY, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def good_tool(directory: Path, name: str) -> Path:
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text to print again."}},
        "required": ["text"],
    }
    details = {"type": "shell_command", "entrypoint": "cat", "args": {"stdin": "{text}"}}
    return write_tool(
        directory,
        name,
        implementation=details,
        schema=schema,
        description=f"Print a text again, as {name} does it.",
        examples=[{"input": {"text": "hi"}, "output": "hi"}],
    )


def break_type(directory: Path) -> None:
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    config["schema"]["input"]["properties"]["text"]["type"] = "str"
    (directory / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


@pytest.fixture
def repository(project: Path) -> Path:
    """A project in git with two tools, committed."""
    for number, name in enumerate(("echo_text", "print_text")):
        good_tool(project / ".vespe" / "tools" / f"tool-{number}", name)
    git(project, "init", "-q", "-b", "main")
    hooks = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    local = [
        {**hook, "language": "system", "entry": f"{sys.executable} -m {hook['entry']}"}
        for hook in hooks
    ]
    config = {"repos": [{"repo": "local", "hooks": local}]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "first")
    return project


def pre_commit(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(
        sys.executable,
        "-m",
        "pre_commit",
        *arguments,
        cwd=cwd,
        PRE_COMMIT_HOME=str(cwd.parent / "pre-commit"),
    )


def test_the_manifest_of_hooks_is_one_that_pre_commit_takes(tmp_path: Path) -> None:
    done = pre_commit(tmp_path, "validate-manifest", str(MANIFEST))
    assert done.returncode == 0, done.stdout


def test_pre_commit_lints_what_is_staged_and_runs_the_examples(repository: Path) -> None:
    done = pre_commit(repository, "run", "--all-files")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("Passed") == 2
    break_type(repository / ".vespe" / "tools" / "tool-1")
    git(repository, "add", "-A")
    done = pre_commit(repository, "run", "vespe-lint")
    assert done.returncode == 1
    assert (
        ".vespe/tools/tool-1/config.json:10:" in done.stdout
        and "schema-unknown-type" in done.stdout
    )
    assert "tool-0" not in done.stdout


def test_pre_commit_lets_a_commit_pass_that_touches_no_tool(repository: Path) -> None:
    (repository / "README.md").write_text("hello\n", encoding="utf-8")
    git(repository, "add", "-A")
    assert pre_commit(repository, "run").stdout.count("Skipped") == 2


def step(name: str) -> dict[str, Any]:
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    [found] = [one for one in action["runs"]["steps"] if one["name"] == name]
    declared = {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
    assert set(found["env"].values()) <= declared
    assert "${{" not in found["run"], "an input inside a script is code"
    return dict(found)


@pytest.mark.parametrize(
    ("inputs", "code", "said"),
    [
        ({}, 1, "::error file=.vespe/tools/tool-1/config.json,line=10,"),
        ({"PATHS": ".vespe/tools/tool-0\n"}, 0, ""),
        (
            {
                "PATHS": ".vespe/tools/tool-0\n.vespe/tools/tool-1\n",
                "TARGET": "mcp",
                "STRICT": "true",
            },
            1,
            "::error file=",
        ),
        ({"CHANGED": "HEAD"}, 1, "::error file=.vespe/tools/tool-1/config.json"),
        ({"PATHS": "$(touch proof)"}, 3, ""),
    ],
)
def test_the_action_annotates_the_lines(
    repository: Path, inputs: dict[str, str], code: int, said: str
) -> None:
    break_type(repository / ".vespe" / "tools" / "tool-1")
    given = dict.fromkeys(step("Lint")["env"], "") | inputs
    done = run("bash", "-eo", "pipefail", "-c", step("Lint")["run"], cwd=repository, **given)
    assert done.returncode == code, done.stderr
    assert said in done.stdout and (said or "::error" not in done.stdout)
    assert not (repository / "proof").exists()


@pytest.mark.parametrize(
    ("version", "installed"), [("of-this-action", str(ROOT)), ("vespe==9.9.9", "vespe==9.9.9")]
)
def test_d24_the_action_installs_its_own_commit_and_no_package_that_anybody_could_own(
    version: str, installed: str, tmp_path: Path
) -> None:
    assert (
        yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"]["version"]["default"]
        == "of-this-action"
    )
    pip = tmp_path / "python3"
    pip.write_text(
        '#!/bin/sh\nrealpath -m "$(for last; do :; done; echo "$last")"\n', encoding="utf-8"
    )
    pip.chmod(0o755)
    given = {
        "VERSION": version,
        "GITHUB_ACTION_PATH": str(ACTION.parent),
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
    }
    done = run("bash", "-eo", "pipefail", "-c", step("Install")["run"], cwd=tmp_path, **given)
    assert done.stdout.strip() == str((tmp_path / installed).resolve())


def lint(cwd: Path, *arguments: str) -> Any:
    done = run(sys.executable, "-m", "vespe", "lint", "--json", *arguments, cwd=cwd)
    return json.loads(done.stdout)


def test_only_the_tools_that_changed_since_a_revision_are_judged(repository: Path) -> None:
    assert lint(repository, "--changed", "HEAD")["summary"]["tools"] == 0
    good_tool(repository / ".vespe" / "tools" / "tool-new", "say_text")
    break_type(repository / ".vespe" / "tools" / "tool-1")
    found = lint(repository, "--changed", "HEAD")
    assert found["summary"] == {"errors": 1, "warnings": found["summary"]["warnings"], "tools": 2}
    assert {finding["path"] for finding in found["findings"] if finding["severity"] == "error"} == {
        ".vespe/tools/tool-1/config.json"
    }
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    assert lint(repository, "--changed", "HEAD~1")["summary"]["tools"] == 2
    assert lint(repository, "--changed", "HEAD")["summary"]["tools"] == 0


def test_what_is_no_revision_is_a_usage_error(repository: Path, tmp_path: Path) -> None:
    for revision in ("no-such", "--output=proof", ""):
        done = run(sys.executable, "-m", "vespe", "lint", f"--changed={revision}", cwd=repository)
        assert done.returncode == (2 if revision else 0), done.stderr
    assert not (repository / "proof").exists()
