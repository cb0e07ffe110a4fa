"""The user's editor, opened on a tool's files."""

from pathlib import Path

import pytest

from vespe.cli.tool.editor import edit


def test_links_and_directories_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "tool-x"
    (tool / "inner").mkdir(parents=True)
    (tool / "config.json").write_text("{}", encoding="utf-8")
    (tool / "link").symlink_to("/etc/passwd")
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/seen\n', encoding="utf-8")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    edit(str(tool))
    assert (tmp_path / "seen").read_text(encoding="utf-8").split() == [str(tool / "config.json")]
