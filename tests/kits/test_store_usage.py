"""The store's contents: who needs them, and what nobody does."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, vespe, write_kit
from vespe.errors import InvalidDocument
from vespe.kits import store, store_usage


@pytest.fixture
def installed(project: Path, tmp_path: Path) -> Path:
    """A project with one kit from a folder."""
    python_tool(write_kit(tmp_path / "source", "web") / "tool-a", "one", "return 1")
    done = vespe("kit", "install", str(tmp_path / "source"), "--yes", cwd=project)
    assert done.returncode == 0, done.stderr
    return project


def test_what_a_project_s_lock_names_is_its_and_is_not_removed(installed: Path) -> None:
    (kit,) = store_usage.stored_kits()
    assert kit.kit_id == "web" and kit.users == (str(installed),) and kit.size > 200
    assert store_usage.clean([kit]) == () and len(store_usage.stored_kits()) == 1


def test_what_nobody_needs_any_more_goes_read_only_directories_and_all(installed: Path) -> None:
    shutil.rmtree(installed)
    (kit,) = store_usage.stored_kits()
    assert kit.users == () and store_usage.clean([kit]) == (kit,)
    assert store_usage.stored_kits() == () and os.listdir(store.store_dir()) == []


def test_a_lock_that_nobody_can_read_stops_the_cleaning(installed: Path) -> None:
    (kit,) = store_usage.stored_kits()
    (installed / ".vespe/kits.lock.json").write_text("<<<<<<< ours\n", encoding="utf-8")
    with pytest.raises(InvalidDocument):
        store_usage.stored_kits()
    with pytest.raises(InvalidDocument):
        store_usage.clean([kit])
    assert store.stored() == (kit.digest,)


def test_a_clone_that_synced_needs_it_too(installed: Path, tmp_path: Path) -> None:
    subprocess.run(["cp", "-r", str(installed), str(tmp_path / "clone")], check=True)
    assert vespe("kit", "sync", "--yes", cwd=tmp_path / "clone").returncode == 0
    shutil.rmtree(installed)
    (kit,) = store_usage.stored_kits()
    assert kit.users == (str(tmp_path / "clone"),)


def test_an_empty_store_is_no_error(home: Path) -> None:
    assert store_usage.stored_kits() == () and store_usage.clean([]) == ()
