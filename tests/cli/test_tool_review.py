"""What is shown of a tool before it is approved: untruncated and inert."""

from pathlib import Path

import pytest

from tests.support.ondisk import write_tool
from vespe.cli import tool_review
from vespe.trust import review


def test_p5_all_of_a_long_hostile_command_is_shown_escaped(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    argv = ["x" * 10_000, "\x1b[2K", "\u202e"]
    directory = write_tool(tmp_path / "tool-a", implementation={"type": "shell_command", "entrypoint": "echo", "args": {"argv": argv}})
    shown = review.review_tool(str(directory), ("config.json",), (directory / "config.json").read_bytes())
    tool_review.show(shown, place="/else\x1bwhere")
    said = capfd.readouterr().err
    assert "x" * 10_000 in said and "\x1b" not in said and "\u202e" not in said and "\\x1bwhere" in said
    assert tool_review.document_of(shown)["uid"] == "tool-a"
