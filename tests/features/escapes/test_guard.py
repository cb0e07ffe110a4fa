"""What is made for a trial goes where its maker is killed."""

import subprocess
import sys
import time
from pathlib import Path

from vespe.features.escapes import guard

PATIENCE_S = 60.0


def guarding(said: str) -> None:
    argv = [sys.executable, "-I", "-S", str(guard.__file__)]
    subprocess.run(argv, input=said, encoding="utf-8", timeout=PATIENCE_S, check=True)


def test_it_removes_what_it_was_told_of_unless_that_is_done(tmp_path: Path) -> None:
    made = [tmp_path / "one", tmp_path / "two"]
    for path in made:
        (path / "deep").mkdir(parents=True)
        (path / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "kept").mkdir()
    (tmp_path / "file").write_text("x", encoding="utf-8")
    guarding(f"{made[0]}\n{made[1]}\ndone\n")
    assert all(path.is_dir() for path in made)
    guarding(f"{made[0]}\n{made[1]}\n{tmp_path / 'file'}\n{tmp_path / 'none'}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_what_is_made_again_by_what_is_being_ended_goes_too(tmp_path: Path) -> None:
    place = tmp_path / "made"
    place.mkdir()
    argv = [sys.executable, "-I", "-S", str(guard.__file__)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE) as one:
        assert one.stdin is not None
        one.stdin.write(f"{place}\n".encode())
        one.stdin.close()
        deadline = time.monotonic() + PATIENCE_S
        while place.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        (place / "again").mkdir(parents=True)
        assert one.wait(PATIENCE_S) == 0
    assert not place.exists()
