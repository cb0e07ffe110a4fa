"""A kit made one file."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, vespe, write_kit
from vespe.errors import InvalidDocument, KitNotFound, NotFound, Refused
from vespe.kits.archives import archive_tree, pack_kit


@pytest.fixture
def kit(home: Path, tmp_path: Path) -> Path:
    directory = write_kit(tmp_path / "src", "mine")
    python_tool(directory / "tool-a", "one", "return 1")
    return directory


def test_a_kit_is_packed_by_its_directory_and_by_its_id_to_the_same_bytes(
    kit: Path, home: Path, tmp_path: Path
) -> None:
    first = pack_kit(str(kit), str(tmp_path / "first.kit"))
    (home / "data/vespe/kits").mkdir(parents=True)
    kit.rename(home / "data/vespe/kits/mine")
    second = pack_kit("mine", str(tmp_path / "second.kit"))
    assert (first.digest, first.files, first.size) == (
        second.digest,
        4,
        (tmp_path / "first.kit").stat().st_size,
    )
    assert (tmp_path / "first.kit").read_bytes() == (tmp_path / "second.kit").read_bytes()


def test_git_byte_code_and_earlier_archives_stay_out_and_times_and_umasks_do_not_matter(
    kit: Path,
) -> None:
    before = pack_kit(str(kit), str(kit / "mine.kit")).digest
    subprocess.run(["git", "init", "-q", str(kit)], check=True)
    (kit / "tool-a/__pycache__").mkdir()
    (kit / "tool-a/__pycache__/x.pyc").write_bytes(b"x")
    os.utime(kit / "tool-a/main.py", (0, 0))
    (kit / "tool-a/main.py").chmod(0o600)
    assert pack_kit(str(kit), str(kit / "again.kit")).digest == before
    assert (kit / "mine.kit").read_bytes() == (kit / "again.kit").read_bytes()


def test_the_executable_bit_and_every_byte_are_in_it(kit: Path, tmp_path: Path) -> None:
    before = pack_kit(str(kit), str(tmp_path / "a.kit")).digest
    (kit / "tool-a/main.py").chmod(0o755)
    assert pack_kit(str(kit), str(tmp_path / "b.kit")).digest != before
    assert archive_tree(str(tmp_path / "b.kit")).kit_id == "mine"


def test_p11_a_kit_that_nobody_could_install_is_not_packed(kit: Path, tmp_path: Path) -> None:
    (kit / "leak").symlink_to("/etc/passwd")
    with pytest.raises(Refused, match="symbolic link"):
        pack_kit(str(kit), str(tmp_path / "x.kit"))
    assert not (tmp_path / "x.kit").exists()


def test_what_is_no_kit_or_a_broken_one_is_said(kit: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        pack_kit(str(tmp_path))
    with pytest.raises(KitNotFound):
        pack_kit("nobody_s_kit")
    (kit / "kit_config.json").write_text('{"kit_id": 3}', encoding="utf-8")
    with pytest.raises(InvalidDocument):
        pack_kit(str(kit))


def test_the_command_writes_into_the_working_directory(kit: Path) -> None:
    done = vespe("kit", "pack", cwd=kit)
    assert (
        done.returncode == 0
        and "packed mine: 4 files" in done.stderr
        and (kit / "mine.kit").is_file()
    )
