"""`vespe kit verify`: every installed byte."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support import gitrepo

Command = Callable[..., Any]


def test_p6_what_is_whole_is_said_so_and_what_was_edited_is_named(
    command: Command, tmp_path: Path, home: Path
) -> None:
    command("kit", "install", str(gitrepo.published(tmp_path / "source", "rain", "sun")), "--yes")
    said = command("kit", "verify", "--json")
    assert said.code == 0 and {kit["kit_id"]: kit["files"] for kit in said.document["kits"]} == {
        "rain": 4,
        "sun": 4,
    }
    for script in home.glob("data/vespe/store/v1-*/*/tool-*/main.py"):
        script.write_text("evil", encoding="utf-8")
    said = command("kit", "verify", "--json")
    assert said.code == 4 and "tool-rain/main.py" in said.document["error"]["message"]
    assert set(said.document["error"]["kits"]) == {"rain", "sun"} and "tool-sun/main.py" in said.err


def test_a_kit_that_is_not_here_is_named(command: Command, tmp_path: Path, home: Path) -> None:
    command("kit", "install", str(gitrepo.published(tmp_path / "source", "rain")), "--yes")
    (place,) = home.glob("data/vespe/store/v1-*")
    place.rename(place.with_name("away"))
    assert (
        command("kit", "verify").code == 4
        and command("kit", "list", "--json").document["kits"][0]["problem"]
    )
