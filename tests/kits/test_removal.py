"""The user's own kits go whole, and nothing that Vespe did not make goes with them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ondisk import write_kit
from vespe.errors import KitNotFound, Refused
from vespe.kits import roots
from vespe.kits.create import found_kit
from vespe.kits.removal import find_own, recover, remove_own


@pytest.fixture
def own(home: Path) -> Path:
    found_kit(home / "data/vespe/kits", "mine")
    found_kit(home / "data/vespe/kits", "other")
    return home / "data/vespe/kits/mine"


def test_a_kit_that_vespe_made_goes_with_its_directory_and_the_others_stay(own: Path) -> None:
    assert remove_own("mine") == str(own) and os.listdir(own.parent) == ["other"]
    with pytest.raises(KitNotFound):
        roots.find_kit("mine")


def test_a_kit_that_another_verb_made_goes_too(own: Path) -> None:
    kit = write_kit(own.parent, "remote", mcp_server={"command": ["true"]})
    (kit / "mcp_tools.json").write_text("{}", encoding="utf-8")
    remove_own("remote")
    assert not kit.exists()


def put_file(kit: Path, elsewhere: Path) -> None:
    (kit / "notes.txt").write_text("mine", encoding="utf-8")


def put_repository(kit: Path, elsewhere: Path) -> None:
    (kit / ".git").mkdir()


def put_link(kit: Path, elsewhere: Path) -> None:
    (kit / "README.md").unlink()
    (kit / "README.md").symlink_to(elsewhere / "file")


def be_a_link(kit: Path, elsewhere: Path) -> None:
    kit.rename(elsewhere / "kit")
    kit.symlink_to(elsewhere / "kit")


def be_in_a_link(kit: Path, elsewhere: Path) -> None:
    kit.parent.rename(elsewhere / "kits")
    kit.parent.symlink_to(elsewhere / "kits")


def be_no_kit(kit: Path, elsewhere: Path) -> None:
    (kit / "kit_config.json").unlink()


@pytest.mark.parametrize(
    "change", [put_file, put_repository, put_link, be_a_link, be_in_a_link, be_no_kit]
)
def test_p12_what_vespe_did_not_make_is_not_deleted(
    change: Callable[[Path, Path], None], own: Path, tmp_path: Path
) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (elsewhere / "file").touch()
    change(own, elsewhere)
    before = sorted(str(path) for path in [*own.rglob("*"), *elsewhere.rglob("*")])
    with pytest.raises(Refused):
        remove_own("mine")
    assert sorted(str(path) for path in [*own.rglob("*"), *elsewhere.rglob("*")]) == before


@pytest.mark.parametrize("kit_id", ["", ".", "..", "../kits/mine", "mine/", "mine\n", "/", "~"])
def test_p13_what_is_no_id_is_no_place(kit_id: str, own: Path) -> None:
    assert find_own(kit_id) is None


def test_a_kit_that_somebody_else_removed_meanwhile_is_not_found(own: Path) -> None:
    remove_own("mine")
    with pytest.raises(KitNotFound):
        remove_own("mine")


def test_p45_what_a_killed_removal_left_is_cleared_by_the_next_command(own: Path) -> None:
    own.rename(own.parent / f".vespe-{'a' * 24}.tmp")
    recover()
    assert os.listdir(own.parent) == ["other"]
