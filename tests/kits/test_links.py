"""Editable kits: linked, listed as such, first of their id, and taken back."""

import os
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, write_kit
from vespe.errors import InvalidDocument, NotFound, UsageError
from vespe.kits import roots
from vespe.kits.links import link_kit, unlink_kit


@pytest.fixture
def mine(home: Path, tmp_path: Path) -> Path:
    kit = write_kit(tmp_path / "src", "mine")
    python_tool(kit / "tool-a", "one", "return 1")
    return kit


def test_a_linked_kit_is_found_where_it_is_and_hides_another_of_its_id(
    mine: Path, home: Path
) -> None:
    write_kit(home / "data/vespe/kits", "mine")
    assert link_kit(mine) == link_kit(mine) == ("mine", str(mine))
    linked, hidden = [kit for kit in roots.find_kits() if kit.kit_id == "mine"]
    assert (linked.path, linked.root_kind, linked.problem, linked.tools) == (
        str(mine),
        "link",
        None,
        1,
    )
    assert hidden.problem == f"hidden by {mine}"
    assert (
        unlink_kit("mine") == str(mine)
        and roots.find_kit("mine").root_kind == "user"
        and mine.exists()
    )


def test_the_directory_may_have_another_name_than_the_kit(mine: Path) -> None:
    mine.rename(mine.parent / "my-checkout")
    link_kit(mine.parent / "my-checkout")
    assert roots.find_kit("mine").path == str(mine.parent / "my-checkout")


def test_a_link_whose_directory_is_gone_is_listed_with_what_to_do(mine: Path) -> None:
    link_kit(mine)
    mine.rename(mine.parent / "elsewhere")
    assert "vespe kit unlink mine" in str(roots.find_kit("mine").problem)
    unlink_kit("mine")
    assert os.listdir(roots.links_dir()) == []


def test_an_id_that_is_linked_elsewhere_is_not_taken_over(mine: Path, tmp_path: Path) -> None:
    link_kit(mine)
    with pytest.raises(UsageError, match=r"linked to .*src/mine already"):
        link_kit(write_kit(tmp_path / "other", "mine"))


def test_what_is_no_kit_or_a_broken_one_is_not_linked(home: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no kit"):
        link_kit(tmp_path)
    with pytest.raises(InvalidDocument):
        link_kit(write_kit(tmp_path, "bad", allow_types=1))
    with pytest.raises(InvalidDocument):
        config = write_kit(tmp_path, "worse") / "kit_config.json"
        config.write_text('{"kit_id": "../../x"}', encoding="utf-8")
        link_kit(config.parent)
    assert not (home / "data/vespe/links").exists()


@pytest.mark.parametrize("kit_id", ["mine", "", "..", "../kits", "/etc"])
def test_what_is_not_linked_is_not_found(home: Path, kit_id: str) -> None:
    with pytest.raises(NotFound):
        unlink_kit(kit_id)
