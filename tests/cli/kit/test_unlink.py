"""`vespe kit unlink`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import write_kit

Command = Callable[..., Any]


def test_a_link_is_taken_back_and_the_directory_stays(command: Command, tmp_path: Path) -> None:
    kit = write_kit(tmp_path, "mine")
    command("kit", "link", str(kit))
    assert command("kit", "unlink", "mine", "--json").document == {
        "kit_id": "mine",
        "path": str(kit),
    }
    assert kit.is_dir() and command("kit", "show", "mine").code == 3
    assert command("kit", "unlink", "mine").code == 3
