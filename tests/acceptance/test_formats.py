"""What every released version wrote is still read: projects, locks, kits, users' configurations,
conversations, recordings.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.ondisk import vespe

RELEASES = sorted((Path(__file__).parents[1] / "cases/formats").iterdir())


@pytest.fixture(params=RELEASES, ids=lambda path: path.name)
def shop(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Path:
    """A project as that version left it, in the home of a user who had that version, with its kit
    installed.
    """
    shutil.copytree(request.param / "user", home / "config/vespe")
    shutil.copytree(request.param / "shop", tmp_path / "shop")
    shutil.copy(request.param / "text_tools.kit", tmp_path)
    (tmp_path / "shop/.vespe/kits.lock.json").rename(tmp_path / "lock.json")
    installed = vespe("kit", "install", "../text_tools.kit", "--yes", cwd=tmp_path / "shop")
    assert installed.returncode == 0, installed.stderr
    assert vespe("trust", "--yes", cwd=tmp_path / "shop").returncode == 0
    return tmp_path / "shop"


def test_its_tools_are_listed_run_and_linted(shop: Path) -> None:
    tools = json.loads(vespe("tool", "list", "--json", cwd=shop).stdout)["tools"]
    assert {"calc", "hello", "page", "example_of_text_tools"} <= {tool["name"] for tool in tools}
    assert vespe("tool", "run", "calc", "a=6", "b=7", "op=mul", cwd=shop).stdout == "42\n"
    linted = vespe("lint", "--json", cwd=shop)
    assert json.loads(linted.stdout)["summary"]["errors"] == 0, linted.stdout


def test_the_same_kit_has_the_digest_that_its_lock_names(shop: Path) -> None:
    before = json.loads((shop.parent / "lock.json").read_text(encoding="utf-8"))["kits"][
        "text_tools"
    ]
    after = json.loads((shop / ".vespe/kits.lock.json").read_text(encoding="utf-8"))["kits"][
        "text_tools"
    ]
    assert (after["digest"], after["files"]) == (before["digest"], before["files"])


def test_its_conversation_goes_on_and_its_recording_replays(shop: Path) -> None:
    (shop / "more.json").write_text('{"turns": [{"text": "As I said, 42."}]}', encoding="utf-8")
    words = (
        "agent",
        "run",
        "Once more?",
        "--provider",
        "simulated",
        "--script",
        "more.json",
        "--resume",
        "talk.json",
    )
    assert vespe(*words, cwd=shop).stdout == "As I said, 42.\n"
    replayed = vespe(
        "agent", "run", "How many?", "--replay", "record.json", "--approve", "all", cwd=shop
    )
    assert (replayed.returncode, replayed.stdout) == (0, "42\n"), replayed.stderr


def test_its_users_configuration_is_in_force(shop: Path) -> None:
    assert vespe("config", "get", "allow_hosts", cwd=shop).stdout.strip() == '["127.0.0.1"]'
