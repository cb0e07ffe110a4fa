import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.files.test_trees import with_failing_flush
from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.files import atomic


def test_p48_an_ordinary_file_is_read_whole(tmp_path: Path) -> None:
    for size in (0, 1, defaults.MAX_FILE_BYTES):
        (tmp_path / "f").write_bytes(b"x" * size)
        assert atomic.read_bytes(tmp_path / "f") == b"x" * size


def test_p48_a_file_past_the_limit_is_refused_without_being_read(tmp_path: Path) -> None:
    with open(tmp_path / "f", "wb") as file:
        file.truncate(2**40)
    with pytest.raises(InvalidDocument, match="larger than 10 bytes"):
        atomic.read_bytes(tmp_path / "f", limit=10)


def test_p48_a_fifo_is_refused_at_once_with_and_without_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    with pytest.raises(InvalidDocument, match="not a regular file"):
        atomic.read_bytes(tmp_path / "f")
    holder = os.open(tmp_path / "f", os.O_RDWR)
    try:
        with pytest.raises(InvalidDocument, match="not a regular file"):
            atomic.read_bytes(tmp_path / "f")
    finally:
        os.close(holder)


def test_p48_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("f")
        with pytest.raises(InvalidDocument, match="not a regular file"):
            atomic.read_bytes("f")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/"])
def test_p48_a_device_and_a_directory_are_refused(device: str) -> None:
    with pytest.raises(InvalidDocument, match="not a regular file"):
        atomic.read_bytes(device)


def test_p48_a_link_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("{}", encoding="utf-8")
    for target in (tmp_path / "real", tmp_path / "link", Path("/nowhere")):
        (tmp_path / "link").unlink(missing_ok=True)
        os.symlink(target, tmp_path / "link")
        with pytest.raises(InvalidDocument, match="symbolic link"):
            atomic.read_bytes(tmp_path / "link")


def test_p48_a_missing_file_is_told_with_its_errno(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot read .*/gone: No such file") as caught:
        atomic.read_bytes(tmp_path / "gone")
    assert caught.value.details["errno"] == 2


@pytest.mark.skipif(
    sys.platform != "linux", reason="/proc holds regular files that lie about their size"
)
def test_p48_a_file_that_lies_about_its_size_is_read_whole_or_refused() -> None:
    assert b"VmRSS" in atomic.read_bytes("/proc/self/status")
    with pytest.raises(InvalidDocument, match="larger than 10 bytes"):
        atomic.read_bytes("/proc/self/status", limit=10)
    with pytest.raises(StorageError, match="cannot read /proc/self/mem: Input/output error"):
        atomic.read_bytes("/proc/self/mem")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_p48_a_file_without_permission_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("{}", encoding="utf-8")
    (tmp_path / "f").chmod(0)
    with pytest.raises(StorageError, match="Permission denied"):
        atomic.read_bytes(tmp_path / "f")


def test_p48_a_file_that_grows_and_vanishes_while_it_is_read_gives_a_whole_text_or_a_sentence(
    tmp_path: Path,
) -> None:
    path, stop = tmp_path / "f", threading.Event()

    def churn() -> None:
        while not stop.is_set():
            atomic.write_atomic(path, b"{}" + b" " * 5000, durable=False)
            path.unlink()

    writer = threading.Thread(target=churn)
    writer.start()
    seen: set[str] = set()
    try:
        while len(seen) < 2:
            try:
                seen.add(str(strict_json.read_object(path)))
            except StorageError as error:
                seen.add(str(error))
    finally:
        stop.set()
        writer.join()
    assert seen == {"{}", f"cannot read {path}: No such file or directory"}


def test_p45_a_file_is_replaced_in_one_step_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "f"
    atomic.write_atomic(path, "é\n", mode=0o600)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == ("é\n".encode(), 0o600)
    atomic.write_atomic(path, b"two", durable=False)
    assert path.read_bytes() == b"two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_p45_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old", encoding="utf-8")
    os.symlink("target", tmp_path / "f")
    atomic.write_atomic(tmp_path / "f", "new")
    assert (tmp_path / "target").read_text(encoding="utf-8") == "old"
    assert not (tmp_path / "f").is_symlink()


def test_p47_a_full_disk_changes_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old", encoding="utf-8")
    code = (
        "import resource, signal, sys\n"
        "from vespe.files import atomic; from vespe import errors\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        "    atomic.write_atomic(sys.argv[1], b'x' * 100_000)\n"
        "except errors.StorageError as error:\n"
        "    print(error, error.details['errno'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "f")],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout == f"cannot write {tmp_path / 'f'}: File too large 27\n"
    assert [(entry.name, entry.read_text(encoding="utf-8")) for entry in tmp_path.iterdir()] == [
        ("f", "old")
    ]


@pytest.mark.parametrize("name", ["no/such/directory/f", "/dev/full/f", "/proc/f", "x" * 300])
def test_p47_a_place_that_cannot_be_written_is_told_in_one_sentence(
    name: str, tmp_path: Path
) -> None:
    path = os.path.join(tmp_path, name)
    with pytest.raises(StorageError, match=f"cannot write {path}: "):
        atomic.write_atomic(path, b"x")
    assert list(tmp_path.iterdir()) == []


def test_p47_a_directory_in_the_place_of_the_file_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(StorageError):
        atomic.write_atomic(tmp_path / "f", b"x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


WRITER = """
import sys
from vespe.documents import strict_json
from vespe.files import atomic
print("ready", flush=True)
while True:
    for letter in (b"a", b"b"):
        atomic.write_atomic(sys.argv[1], letter * 200_000, durable=False)
"""


def test_p45_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    for delay in range(8):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        while not path.exists():
            pass
        for _ in range(delay * 20):
            assert len(set(path.read_bytes())) == 1
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        assert path.read_bytes() in (b"a" * 200_000, b"b" * 200_000)


@pytest.mark.parametrize(
    ("number", "kept", "error"), [(1, "old", "StorageError cannot write"), (2, "new", "NotDurable")]
)
def test_p47_what_the_disk_does_not_confirm_is_told_as_what_it_is(
    number: int, kept: str, error: str, tmp_path: Path
) -> None:
    (tmp_path / "f.json").write_text("old", encoding="utf-8")
    code = (
        "import sys\nfrom vespe.files import atomic\ntry: atomic.write_atomic(sys.argv[1] + "
        "'/f.json', 'new')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    said = with_failing_flush(number, code, tmp_path)
    assert said.startswith(error) and f"{tmp_path}/f.json" in said and "Input/output error" in said
    assert (tmp_path / "f.json").read_text(encoding="utf-8") == kept and os.listdir(tmp_path) == [
        "f.json"
    ]


@pytest.mark.parametrize(
    ("more", "left"), [((), "aside"), (("/^rename:error=EIO:when=2",), "place")]
)
def test_p47_a_rename_that_the_disk_does_not_confirm_is_undone_or_told(
    more: tuple[str, ...], left: str, tmp_path: Path
) -> None:
    (tmp_path / "aside").mkdir()
    code = (
        "import sys\nfrom vespe.files import atomic\ntry: atomic.rename_durably(sys.argv[1] + "
        "'/aside', sys.argv[1] + '/place')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    said = with_failing_flush(1, code, tmp_path, *more)
    assert said.startswith("NotDurable" if more else "OSError") and os.listdir(tmp_path) == [left]


COUNTER = """
import sys
from vespe.documents import strict_json
from vespe.files import atomic
directory, path = sys.argv[1], sys.argv[1] + "/count.json"
for _ in range(10):
    with atomic.locked(directory, timeout_s=60):
        count = strict_json.read_object(path)["count"]
        atomic.write_atomic(path, strict_json.dump_json({"count": count + 1}), durable=False)
"""


def test_p46_sixteen_processes_lose_no_update(tmp_path: Path) -> None:
    atomic.write_atomic(tmp_path / "count.json", '{"count": 0}')
    writers = [subprocess.Popen([sys.executable, "-c", COUNTER, str(tmp_path)]) for _ in range(16)]
    assert [writer.wait(timeout=120) for writer in writers] == [0] * 16
    assert strict_json.read_object(tmp_path / "count.json") == {"count": 160}
    assert [entry.name for entry in tmp_path.iterdir()] == ["count.json"]


HOLDER = """
import sys, time
from vespe.documents import strict_json
from vespe.files import atomic
with atomic.locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_p46_a_lock_is_waited_for_then_told_and_falls_with_its_holder(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with (
        pytest.raises(
            StorageError, match=r"cannot lock .*: another process has held the lock for 0\.05 s"
        ),
        atomic.locked(str(tmp_path), timeout_s=0.05),
    ):
        pytest.fail("two hold one lock")
    holder.kill()
    holder.communicate()
    with atomic.locked(str(tmp_path), timeout_s=10):
        assert holder.returncode == -signal.SIGKILL


def test_p46_two_threads_take_turns(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(20):
            with atomic.locked(str(tmp_path)):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 40


def test_a_directory_that_is_not_there_cannot_be_locked(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match=r"cannot lock .*No such file"),
        atomic.locked(str(tmp_path / "gone")),
    ):
        pytest.fail("locked nothing")


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: Path(path).write_bytes(b"")], ids=["fifo", "file"]
)
def test_what_is_no_directory_cannot_be_locked_and_does_not_hold_anybody_up(
    make: Callable[[str], Any], tmp_path: Path
) -> None:
    make(str(tmp_path / "odd"))
    with (
        pytest.raises(StorageError, match=r"cannot lock .*odd: Not a directory"),
        atomic.locked(str(tmp_path / "odd")),
    ):
        pytest.fail("locked what is not a directory")


def test_the_lock_is_let_go_when_the_work_inside_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyError), atomic.locked(str(tmp_path)):
        raise KeyError
    with atomic.locked(str(tmp_path), timeout_s=0.0):
        assert list(tmp_path.iterdir()) == []


def test_the_unfinished_successors_of_the_file_go_and_nothing_else(tmp_path: Path) -> None:
    for name in (
        "a.json",
        "a.json.1f-2a.tmp",
        "a.json.tmp",
        "b.json.1f-2a.tmp",
        "a.json.1f-2a.tmp.bak",
    ):
        (tmp_path / name).touch()
    atomic.sweep_beside(tmp_path / "a.json")
    assert sorted(os.listdir(tmp_path)) == [
        "a.json",
        "a.json.1f-2a.tmp.bak",
        "a.json.tmp",
        "b.json.1f-2a.tmp",
    ]


def test_sweeping_in_a_directory_that_is_not_there_is_not_an_error(tmp_path: Path) -> None:
    atomic.sweep_beside(tmp_path / "nowhere/a.json")


def test_a_thread_that_holds_a_lock_gets_it_again_and_others_do_not(tmp_path: Path) -> None:
    waited: list[str] = []

    def other() -> None:
        with (
            pytest.raises(StorageError, match="another process"),
            atomic.locked(str(tmp_path), timeout_s=0),
        ):
            waited.append("never")

    with atomic.locked(str(tmp_path)):
        with atomic.locked(os.path.join(tmp_path, ".")):
            pass
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    with atomic.locked(str(tmp_path), timeout_s=0):
        assert waited == []


def test_what_the_system_refuses_is_said_and_what_vespe_refuses_stays(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="cannot list nothing: No such file"),
        atomic.translated("list", "nothing"),
    ):
        os.listdir(tmp_path / "gone")
    with pytest.raises(Refused, match="no"), atomic.translated("list", "nothing"):
        raise Refused("no")


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_every_level_that_is_made_is_private_and_what_is_there_stays_as_it_is(
    no_umask: None, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir(0o755)
    atomic.private_directory(str(tmp_path / "there/a/b"))
    atomic.private_directory(str(tmp_path / "there/a/b"))
    modes = [
        stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("there", "there/a", "there/a/b")
    ]
    assert modes == [0o755, 0o700, 0o700]


def test_what_stands_in_the_way_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in ("file", "file/below"):
        with pytest.raises(StorageError, match="cannot make"):
            atomic.private_directory(str(tmp_path / path))


def test_of_many_that_make_one_file_exactly_one_does(tmp_path: Path) -> None:
    made: list[tuple[int, bool]] = []

    def make(number: int) -> None:
        made.append((number, atomic.create(tmp_path / "f", b"%d" % number)))

    threads = [threading.Thread(target=make, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (first,) = [number for number, own in made if own]
    assert (tmp_path / "f").read_bytes() == b"%d" % first and len(made) == 16
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["f"]


def test_a_file_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="gone"):
        atomic.create(tmp_path / "gone/f", b"")
