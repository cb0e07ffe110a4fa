"""`vespe kit unlink`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def test_a_project_that_still_uses_it_is_named_with_what_ends_that(
    command: Command, project: Path, tmp_path: Path
) -> None:
    kit = write_kit(tmp_path, "mine")
    command("kit", "link", str(kit))
    command("kit", "activate", "mine")
    said = command("kit", "unlink", "mine").err
    ends = "`vespe kit deactivate mine`"
    assert f"still active in the project {project}" in said and ends in said
    assert ends in command("tool", "list").err
    assert command("kit", "deactivate", "mine").code == 0
    assert "mine" not in command("tool", "list").err


def test_another_kit_that_takes_its_place_is_named(
    command: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VESPE_KITS_PATH", "")
    own = command("kit", "create", "mine", "--json").document["path"]
    kit = write_kit(tmp_path, "mine")
    command("kit", "link", str(kit))
    command("kit", "activate", "mine")
    assert f"which now uses {own}" in command("kit", "unlink", "mine").err
