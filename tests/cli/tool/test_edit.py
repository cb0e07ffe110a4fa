"""`vespe tool edit`."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool

Command = Callable[..., Any]


def test_without_a_terminal_the_files_are_named_instead(command: Command, project: Path) -> None:
    tool = python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    said = command("tool", "edit", "one")
    assert said.code == 6 and str(tool) in said.err


def test_the_editor_gets_the_files_and_the_result_is_checked(project: Path, tmp_path: Path) -> None:
    tool = python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    editor = tmp_path / "editor"
    editor.write_text(
        '#!/bin/sh\nfor f; do echo "$f"; done > "$EDITED"\necho "{" > "$1"\n', encoding="utf-8"
    )
    editor.chmod(0o755)
    ours, theirs = pty.openpty()
    environment = {**os.environ, "VISUAL": str(editor), "EDITED": str(tmp_path / "edited")}
    argv = [sys.executable, "-m", "vespe", "tool", "edit", "one"]
    with subprocess.Popen(
        argv, cwd=project, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=environment
    ) as done:
        assert done.stderr is not None
        complaint = done.stderr.read().decode("utf-8")
    os.close(ours)
    os.close(theirs)
    edited = (tmp_path / "edited").read_text(encoding="utf-8").split()
    assert edited[:2] == [str(tool / "config.json"), str(tool / "description.md")]
    assert done.returncode == 4 and "is not JSON" in complaint


def test_the_page_follows_a_change_of_the_config(
    command: Command, project: Path, tmp_path: Path
) -> None:
    command("tool", "create", "order", "--url", "https://shop.example/{item}")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/Send a GET/Order by a GET/" "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "vespe", "tool", "edit", "order"],
        cwd=project,
        stdin=theirs,
        stdout=theirs,
        env={**os.environ, "VISUAL": str(editor)},
        check=True,
    )
    os.close(ours)
    os.close(theirs)
    page = (project / ".vespe/tools/tool-order/description.md").read_text(encoding="utf-8")
    assert page.startswith("# order\n\nOrder by a GET request")
