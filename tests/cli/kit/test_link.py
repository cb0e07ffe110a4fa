"""`vespe kit link`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool, write_kit

Command = Callable[..., Any]


def test_a_change_in_the_author_s_directory_is_what_runs(command: Command, tmp_path: Path) -> None:
    kit = write_kit(tmp_path, "mine")
    python_tool(kit / "tool-a", "one", "return 1")
    assert command("kit", "link", str(kit), "--json").document == {
        "kit_id": "mine",
        "path": str(kit),
        "hides": [],
    }
    assert (
        command("kit", "activate", "mine").code == 0 and command("tool", "run", "one").out == "1\n"
    )
    (kit / "tool-a/main.py").write_text("def one(): return 2\n", encoding="utf-8")
    assert command("tool", "run", "one").out == "2\n"
    (row,) = [
        row for row in command("kit", "list", "--json").document["kits"] if row["kit_id"] == "mine"
    ]
    assert row["root_kind"] == "link" and row["path"] == str(kit)


def test_a_link_that_hides_a_shipped_kit_says_so(command: Command, tmp_path: Path) -> None:
    said = command("kit", "link", str(write_kit(tmp_path, "file_io_with_git")))
    assert said.code == 0 and "it hides the shipped kit" in said.err


def test_what_is_no_kit_is_exit_3(command: Command, tmp_path: Path) -> None:
    assert command("kit", "link", str(tmp_path / "nowhere")).code == 3
