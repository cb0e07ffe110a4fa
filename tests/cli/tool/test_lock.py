"""`vespe tool lock` and `vespe prepare`: from a script with a package to a call that installs
nothing.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.types.python_script.test_environments import distribution

Command = Callable[..., Any]
SOURCE = (
    "# /// script\n# dependencies = ['greeting']\n# ///\nimport greeting\n\ndef word() -> "
    "int:\n    return greeting.WORD\n"
)


@pytest.fixture
def tool(command: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    distribution(tmp_path, "greeting")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    (project / "word.py").write_text(SOURCE, encoding="utf-8")
    return Path(
        command("tool", "create", "word", "--from", "word.py:word", "--json").document["path"]
    )


def test_a_lock_is_written_prepared_and_used_and_one_that_does_not_fit_is_exit_4(
    command: Command, tool: Path
) -> None:
    assert (
        "unpinned greeting" in command("trust", "--json", "--yes").err
        or command("trust", "--yes").err
    )
    missing = command("tool", "lock", "--check")
    assert (
        missing.code == 4
        and "word.py.lock: is not there" in missing.err
        and "`vespe tool lock word` makes it" in missing.err
    )
    assert (
        command("tool", "lock", "word").code == 0
        and (tool / "word.py.lock").read_text(encoding="utf-8").count("sha256:") == 1
    )
    assert command("tool", "lock", "--check").code == 0
    ready = command("prepare", "--json").document
    assert [one["tool"] for one in ready["environments"]] == ["word"] and ready["failed"] == 0
    said = command("tool", "run", "word")
    assert said.out.strip() == "1" and "installing" not in said.err
    (kept,) = command("cache", "list", "--json").document["environments"]
    assert kept["dependencies"] == ["greeting"] and os.path.exists(
        ready["environments"][0]["python"]
    )
    (tool / "word.py").write_text(SOURCE.replace("'greeting'", "'greeting>=1'"), encoding="utf-8")
    refused = command("tool", "run", "word")
    assert (
        refused.code == 4
        and "locks something else than its script asks for" in refused.err
        and "vespe tool lock" in refused.err
    )
    assert command("tool", "lock", "--check").code == 4
    gone = command("cache", "clean", "--environments", "--yes", "--json").document
    assert [one["dependencies"] for one in gone["environments"]] == [["greeting"]]
    assert command("cache", "list", "--json").document["environments"] == []
    assert "there is nothing to remove" in command("cache", "clean").err


def test_what_runs_in_the_projects_own_environment_has_no_lock(
    command: Command, tool: Path
) -> None:
    config = tool / "config.json"
    config.write_text(
        config.read_text(encoding="utf-8").replace(
            '"type": "py', '"environment": "project", "type": "py'
        ),
        encoding="utf-8",
    )
    refused = command("tool", "lock", "word")
    assert refused.code == 2 and "the project's own .venv" in refused.err
    assert (
        command("tool", "lock", "--check").code == 0
        and "nothing to lock" in command("tool", "lock").err
    )


def test_what_cannot_be_had_is_named_by_prepare(command: Command, tool: Path) -> None:
    (tool / "word.py").write_text(
        SOURCE.replace("'greeting'", "'no-such-thing==2'"), encoding="utf-8"
    )
    said = command("prepare")
    assert (
        said.code == 1 and "word: the dependency no-such-thing==2 cannot be installed" in said.err
    )


def test_what_has_nothing_to_lock_is_a_sentence(command: Command, project: Path) -> None:
    command("tool", "create", "say", "--type", "shell_command")
    assert (
        command("tool", "lock", "say").code == 2
        and "nothing to lock" in command("tool", "lock").out + command("tool", "lock").err
    )
    assert command("prepare").code == 0
