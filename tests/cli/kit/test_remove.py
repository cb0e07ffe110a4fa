"""`vespe kit remove`: out of the lock, and nothing but what was installed off the disk."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import gitrepo, ondisk
from tests.support.accesses import OPENED, Accesses
from vespe.files import atomic

Command = Callable[..., Any]


@pytest.fixture
def lock(command: Command, project: Path, tmp_path: Path) -> Path:
    source = gitrepo.published(tmp_path / "source", "rain", "sun")
    assert command("kit", "install", str(source), "--activate", "--yes").code == 0
    return project / ".vespe/kits.lock.json"


def test_a_removed_kit_is_gone_from_the_lock_the_store_and_the_active_ones(
    command: Command, lock: Path, project: Path, home: Path
) -> None:
    said = command("kit", "remove", "rain", "--yes", "--json")
    assert said.code == 0 and [kit["kit_id"] for kit in said.document["removed"]] == ["rain"]
    assert list(json.loads(lock.read_text(encoding="utf-8"))["kits"]) == ["sun"]
    assert json.loads((project / ".vespe/config.json").read_text(encoding="utf-8"))[
        "active_kits"
    ] == ["sun"]
    assert [path.name for path in home.glob("data/vespe/store/v1-*/*") if path.is_dir()] == ["sun"]


def test_without_a_yes_nothing_is_removed(command: Command, lock: Path) -> None:
    before = lock.read_bytes()
    assert command("kit", "remove", "rain").code == 6 and lock.read_bytes() == before


def test_an_unknown_kit_is_not_found_and_nothing_is_removed(command: Command, lock: Path) -> None:
    before = lock.read_bytes()
    assert (
        command("kit", "remove", "rain", "snow", "--yes").code == 3 and lock.read_bytes() == before
    )


@pytest.mark.parametrize("which", ["place", "kit", "store"])
def test_p12_a_link_in_a_kit_s_place_is_refused_and_what_it_leads_to_stays(
    which: str, command: Command, lock: Path, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    (kit,) = home.glob("data/vespe/store/v1-*/rain")
    victim = {"kit": kit, "place": kit.parent, "store": kit.parent.parent}[which]
    victim.parent.chmod(0o755)
    victim.rename(victim.with_name("aside"))
    victim.symlink_to(tmp_path / "mine")
    before = lock.read_bytes()
    said = command("kit", "remove", "rain", "--yes")
    assert (
        said.code == 6
        and "symbolic link" in said.err
        and (tmp_path / "mine" / "file").exists()
        and lock.read_bytes() == before
    )


def test_p12_files_that_were_not_installed_are_not_deleted(
    command: Command, lock: Path, home: Path
) -> None:
    (kit,) = home.glob("data/vespe/store/v1-*/rain")
    kit.chmod(0o755)
    (kit / "notes.txt").touch()
    said = command("kit", "remove", "rain", "--yes")
    assert said.code == 6 and "notes.txt" in said.err and (kit / "notes.txt").exists()


def test_bytes_that_another_project_needs_stay(
    command: Command, lock: Path, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    for arguments in (["init"], ["kit", "install", str(tmp_path / "source"), "--yes"]):
        assert ondisk.vespe(*arguments, cwd=tmp_path / "other").returncode == 0
    assert command("kit", "remove", "rain", "sun", "--yes").code == 0
    assert len(list(home.glob("data/vespe/store/v1-*"))) == 2
    assert ondisk.vespe("kit", "verify", cwd=tmp_path / "other").returncode == 0


def test_a_kit_of_one_s_own_goes_with_its_directory_which_is_named(
    command: Command, project: Path, home: Path
) -> None:
    assert (
        command("kit", "create", "mine").code == 0 and command("kit", "activate", "mine").code == 0
    )
    asked = command("kit", "remove", "mine")
    assert (
        asked.code == 6
        and str(home / "data/vespe/kits/mine") in asked.err
        and (home / "data/vespe/kits/mine").exists()
    )
    said = command("kit", "remove", "mine", "--yes", "--json")
    assert "would be deleted" in asked.err and "would be deleted" not in said.err
    assert f"its directory {home / 'data/vespe/kits/mine'} was deleted" in said.err
    assert said.code == 0 and said.document["removed"] == [
        {"kit_id": "mine", "path": str(home / "data/vespe/kits/mine")}
    ]
    assert (
        json.loads((project / ".vespe/config.json").read_text(encoding="utf-8"))["active_kits"]
        == []
    )
    assert not (home / "data/vespe/kits/mine").exists()


def test_a_kit_of_one_s_own_goes_where_no_project_is_and_the_user_s_lock_stays(
    command: Command, tmp_path: Path, home: Path
) -> None:
    source = gitrepo.published(tmp_path / "source", "rain")
    assert (
        command("kit", "install", str(source), "--user", "--yes").code == 0
        and command("kit", "create", "rain").code == 0
    )
    (tmp_path / "bare").mkdir()
    assert ondisk.vespe("kit", "remove", "rain", "--yes", cwd=tmp_path / "bare").returncode == 0
    assert (
        not (home / "data/vespe/kits/rain").exists()
        and command("kit", "verify", "--user").code == 0
    )
    assert "rain" in (home / "data/vespe/kits.lock.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("kit_id", ["file_io_without_git", "linked", "users"])
def test_a_kit_that_stands_elsewhere_is_named_with_what_to_say_instead(
    kit_id: str, command: Command, project: Path, tmp_path: Path
) -> None:
    assert command("kit", "create", "linked", "--in", str(tmp_path)).code == 0
    assert command("kit", "link", str(tmp_path / "linked")).code == 0
    assert (
        command(
            "kit",
            "install",
            str(gitrepo.published(tmp_path / "source", "users")),
            "--user",
            "--yes",
        ).code
        == 0
    )
    said = command("kit", "remove", kit_id, "--yes")
    hints = {"linked": "kit unlink linked", "users": "kit remove users --user"}
    assert said.code == 3 and hints.get(kit_id, "kit deactivate") in said.err


@pytest.mark.parametrize("interrupted", [True, False])
def test_p31_ctrl_c_while_another_process_holds_the_store_leaves_everything_as_it_was(
    interrupted: bool, lock: Path, project: Path, home: Path
) -> None:
    store_dir, state = home / "data/vespe/store", (lock, project / ".vespe/config.json")
    before = [path.read_bytes() for path in state]
    with (
        atomic.locked(str(store_dir)),
        Accesses(store_dir, kind=OPENED, folders=True) as opened,
    ):
        argv = [sys.executable, "-m", "vespe", "kit", "remove", "rain", "--yes"]
        process = subprocess.Popen(
            argv, cwd=project, env=ondisk.interruptible(), stderr=subprocess.DEVNULL
        )
        while store_dir not in opened.taken():
            assert process.poll() is None
            time.sleep(0.01)
        if interrupted:
            process.send_signal(signal.SIGINT)
            assert process.wait(ondisk.PATIENCE_S) == 130
    assert process.wait(ondisk.PATIENCE_S) == (130 if interrupted else 0)
    assert ([path.read_bytes() for path in state] == before) is interrupted
