"""Kits that are their author's to change, by their directory and by their id."""

from pathlib import Path

import pytest

from tests.support.ondisk import python_tool
from vespe.errors import AmbiguousTool, Refused, ToolNotFound, UsageError
from vespe.files.digests import SCHEME
from vespe.kits import create, edited, links, store


@pytest.fixture
def kit(home: Path, tmp_path: Path) -> Path:
    path, _ = create.found_kit(tmp_path / "work", "words")
    return Path(path)


def test_a_kit_is_found_by_its_directory_and_once_linked_by_its_id(kit: Path) -> None:
    assert edited.directory_of(kit) == str(kit)
    with pytest.raises(UsageError, match="is not a kit"):
        edited.directory_of("words")
    links.link_kit(kit)
    assert edited.directory_of("words") == str(kit) and edited.is_edited("words")
    assert not edited.is_edited("file_io_without_git")


def test_a_kit_of_a_directory_that_the_environment_names_is_its_users_too(
    kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VESPE_KITS_PATH", str(kit.parent))
    assert edited.directory_of("words") == str(kit) and edited.is_edited("words")


def test_its_tools_are_found_by_name_and_uid(kit: Path) -> None:
    (entry,) = edited.list_tools(str(kit))
    for name in (entry.uid, str(entry.name), f"words/{entry.name}"):
        assert edited.find_tool(str(kit), name).path == entry.path
    assert edited.has_tool(str(kit), str(entry.name))
    assert not edited.has_tool(str(kit), entry.uid), "a name, and no uid"
    with pytest.raises(ToolNotFound):
        edited.find_tool(str(kit), "nothing")
    python_tool(kit / "tool-again", str(entry.name), "return 1")
    with pytest.raises(AmbiguousTool):
        edited.find_tool(str(kit), str(entry.name))


def test_an_installed_kit_is_nobodys_to_change(home: Path) -> None:
    place = Path(store.kit_path(f"{SCHEME}{64 * '0'}", "words"))
    place.mkdir(parents=True)
    (place / "kit_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(Refused, match="which is pinned"):
        edited.directory_of(place)
