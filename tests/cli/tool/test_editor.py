"""The user's editor, opened on a tool's files."""

from pathlib import Path

import pytest

from vespe.cli.tool.editor import edit
from vespe.errors import ToolExecutionError


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
    edit(str(tool), "x")
    assert (tmp_path / "seen").read_text(encoding="utf-8").split() == [str(tool / "config.json")]


@pytest.mark.parametrize(
    ("editor", "said"),
    [
        ("no-such-editor", "your editor cannot be started (EDITOR is 'no-such-editor')"),
        ("false", "your editor ended with an error (EDITOR is 'false')"),
    ],
)
def test_an_editor_that_is_missing_or_fails_is_told_with_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editor: str, said: str
) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    with pytest.raises(ToolExecutionError) as caught:
        edit(str(tmp_path), "x")
    assert str(caught.value) == said
    assert "`EDITOR=nano vespe tool edit x`" in caught.value.hint
    assert str(tmp_path) in caught.value.hint
