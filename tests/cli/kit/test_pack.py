"""`vespe kit pack`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]


def test_a_shipped_kit_is_packed_and_said_as_data(command: Command, tmp_path: Path) -> None:
    said = command("kit", "pack", "file_io_with_git", "-o", str(tmp_path / "x.kit"), "--json").document
    assert said["kit_id"] == "file_io_with_git" and said["digest"].startswith("v1:") and said["size"] == (tmp_path / "x.kit").stat().st_size


def test_nothing_to_pack_is_exit_3_and_nowhere_to_write_exit_1(command: Command) -> None:
    assert command("kit", "pack").code == 3
    assert command("kit", "pack", "file_io_with_git", "-o", "/dev/null/x.kit").code == 1
