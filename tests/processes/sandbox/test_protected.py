"""Protected places: those that are there, links followed."""

from pathlib import Path

from vespe.processes.sandbox import protected


def test_keys_are_protected_where_they_are_and_where_a_link_to_them_leads(
    home: Path, tmp_path: Path
) -> None:
    (home / ".ssh").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (home / ".aws").symlink_to(tmp_path / "elsewhere")
    (home / "notes").mkdir()
    found = protected.find_protected((str(home / "state"),))
    assert {str(home / ".ssh"), str(home / ".aws"), str(tmp_path / "elsewhere")} <= set(found)
    assert str(home / "notes") not in found and str(home / "state") not in found


def test_a_place_holds_itself_and_what_is_in_it() -> None:
    assert (
        protected.holds("/a", "/a") and protected.holds("/a", "/a/b") and protected.holds("/", "/a")
    )
    assert not protected.holds("/a", "/ab") and not protected.holds("/a/b", "/a")
