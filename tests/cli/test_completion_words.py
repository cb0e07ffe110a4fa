"""What a shell completes: tools, their arguments and values, kits, settings and rules."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_cli_on_terminals import CALC
from tests.support.ondisk import python_tool
from tests.support.terminal import environment_of
from vespe.projects import user_config


def completed(line: str, project: Path) -> list[str]:
    """Return what bash would offer at the end of a line; a space at its end begins a new word."""
    words = line.split(" ")
    environment = environment_of(
        _VESPE_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1)
    )
    argv = [sys.executable, "-m", "vespe"]
    done = subprocess.run(
        argv,
        env=environment,
        cwd=project,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stderr == ""
    return [offered.partition(",")[2] for offered in done.stdout.split()]


@pytest.fixture
def stocked(project: Path) -> Path:
    python_tool(
        project / ".vespe/tools/tool-calc", "calc", "return 1", schema=CALC, secrets=["WANTED"]
    )
    user_config.set_value("secrets.KEPT", "hunter2")
    return project


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("vespe tool run ", ["calc"]),
        ("vespe run c", ["calc"]),
        ("vespe tool run calc ", ["a=", "b=", "op="]),
        ("vespe tool run calc a=1 b", ["b="]),
        ("vespe tool run calc op=", ["op=add", "op=mul"]),
        ("vespe tool run calc op = m", ["mul"]),
        ("vespe tool run calc op =", ["add", "mul"]),
        ("vespe tool show c", ["calc"]),
        ("vespe tool create c", []),
        ("vespe kit activate file_io_with_", ["file_io_with_git"]),
        ("vespe config get sand", ["sandbox"]),
        ("vespe secret set ", ["KEPT", "WANTED"]),
        ("vespe secret check K", ["KEPT"]),
        ("vespe lint --explain schema-unknown-t", ["schema-unknown-type"]),
    ],
)
def test_a_word_is_completed_by_what_it_can_be(
    line: str, offered: list[str], stocked: Path
) -> None:
    assert completed(line, stocked) == offered


def test_outside_a_project_nothing_is_offered_and_nothing_is_said(
    home: Path, tmp_path: Path
) -> None:
    assert completed("vespe tool run ", tmp_path) == []
