"""Protected places: those that are there, links followed."""

import os
from pathlib import Path

import pytest

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


def test_a_place_that_a_variable_names_is_protected_there_or_not(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "led").symlink_to(tmp_path / "keys")
    (tmp_path / "config/gh").mkdir(parents=True)
    monkeypatch.setenv("GNUPGHOME", str(tmp_path / "led"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv(
        "KUBECONFIG", os.pathsep.join((str(tmp_path / "one"), str(tmp_path / "two")))
    )
    found = protected.find_protected(())
    assert {str(tmp_path / "keys"), str(tmp_path / "config/gh")} <= set(found)
    assert str(tmp_path / "config") not in found and str(tmp_path / "one") not in found
    closed = protected.closed_places(protected.homes(), protected.named_places(), os.getuid())
    assert {str(tmp_path / name) for name in ("keys", "config/gh", "one", "two")} <= closed
    assert protected.may_be_protected(str(tmp_path / "two"))


@pytest.mark.parametrize("value", ["", "relative", "/", "/usr", "/dev/null", "/proc/self/fd/0"])
def test_a_variable_closes_nothing_that_programs_need(
    home: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    before = protected.find_protected(()), protected.named_places()
    monkeypatch.setenv("HISTFILE", value)
    monkeypatch.setenv("GNUPGHOME", str(home))
    monkeypatch.setenv("PASSWORD_STORE_DIR", str(home.parent))
    assert (protected.find_protected(()), protected.named_places()) == before


def test_a_place_holds_itself_and_what_is_in_it() -> None:
    assert (
        protected.holds("/a", "/a") and protected.holds("/a", "/a/b") and protected.holds("/", "/a")
    )
    assert not protected.holds("/a", "/ab") and not protected.holds("/a/b", "/a")
