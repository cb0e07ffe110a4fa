import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.files.test_trees import with_failing_flush
from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "cases" / "json" / "rows.json").read_text(encoding="utf-8"))


def content(row: dict[str, Any]) -> bytes:
    """The bytes of a row: a text, hexadecimal, or [piece, times] one after the other."""
    if "hex" in row:
        return bytes.fromhex(row["hex"])
    text: str = row["text"] if "text" in row else "".join(piece * times for piece, times in row["pieces"])
    return text.encode("utf-8")


def refused(data: bytes | str, **how: Any) -> InvalidDocument:
    with pytest.raises(InvalidDocument) as caught:
        strict_json.parse_json(data, path="f.json", **how)
    return caught.value


# Strict JSON in


@pytest.mark.parametrize("row", [row for row in ROWS if row["name"].startswith("n_")], ids=lambda row: row["name"])
def test_p23_what_is_not_strict_json_is_refused_in_a_sentence(row: dict[str, Any]) -> None:
    error = refused(content(row))
    assert row["says"] in error.reason
    assert len(str(error)) < 200


@pytest.mark.parametrize("row", [row for row in ROWS if row["name"].startswith("y_")], ids=lambda row: row["name"])
def test_p23_strict_json_is_read_as_the_standard_library_reads_it(row: dict[str, Any]) -> None:
    data = content(row)
    assert strict_json.parse_json(data) == json.loads(data) == strict_json.parse_json(data.decode("utf-8"))


def test_p23_the_rows_are_many() -> None:
    assert len(ROWS) >= 120


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"s": "NaN\\"",\n "n": NaN,\n "t": "NaN"}', 2),
        ('{"a": "{\\"a\\"",\n "b": {"a": 1},\n "a": 2,\n "c": {"a": 3}}', 3),
        ('[{"é": 1},\n {"\\u00e9": 1,\n "é": 2}]', 3),
        ('{"x": "1e400",\n "y": 1e400}', 2),
        ("[\n" * 70 + "]" * 70, 65),
        ('{"a": 1,\n\n "b" 2}', 3),
        ('\n"\\x"', 2),
    ],
)
def test_p23_the_line_of_what_is_refused_is_told(text: str, line: int) -> None:
    error = refused(text)
    assert error.line == line
    assert str(error).startswith(f"f.json:{line}")


def test_p23_a_byte_that_is_not_utf_8_is_told_with_its_line() -> None:
    assert str(refused(b'{\n"a": "\xff"}')) == "f.json:2: is not UTF-8: byte 0xff"


def test_p23_a_lone_surrogate_is_told_with_its_pointer() -> None:
    assert refused('{"a/b": ["x", "\\ud800"]}').pointer == "/a~1b/1"
    assert refused('["\ud800"]').pointer == "/0"
    assert refused('{"\\udc00": 1}').pointer == ""


@pytest.mark.parametrize("limit", [2, 5])
def test_p23_a_document_larger_than_its_limit_is_refused_unread(limit: int) -> None:
    assert strict_json.parse_json(b" " * (limit - 2) + b"[]", limit=limit) == []
    assert f"larger than {limit} bytes" in refused(b"\xff" * (limit + 1), limit=limit).reason


def test_p23_a_document_at_the_limit_of_a_file_is_read() -> None:
    whole = b'["' + b"x" * (defaults.MAX_FILE_BYTES - 4) + b'"]'
    assert len(strict_json.parse_json(whole)[0]) == defaults.MAX_FILE_BYTES - 4
    assert "larger than" in refused(whole + b" ").reason


def test_p23_deep_nesting_is_refused_wherever_the_callers_stack_stands() -> None:
    def deeper(levels: int) -> InvalidDocument:
        return deeper(levels - 1) if levels else refused(b"[" * 500 + b"]" * 500)

    for levels in (0, 100, 500):
        assert "deeper than 64" in deeper(levels).reason


@pytest.mark.parametrize(
    ("text", "kind"), [("[]", "an array"), ("null", "null"), ("true", "a boolean"), ("1", "a number"), ('"x"', "a string")]
)
def test_a_document_that_should_be_an_object_says_what_it_is(text: str, kind: str) -> None:
    with pytest.raises(InvalidDocument, match=f"must hold a JSON object, not {kind}"):
        strict_json.parse_object(text)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200) | st.text(alphabet='{}[]":,\\u019aeE+-.NaInfty \n', max_size=60))
def test_p19_no_bytes_make_the_reader_raise_anything_else(data: bytes | str) -> None:
    try:
        strict_json.parse_json(data)
    except InvalidDocument as error:
        assert error.reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(value=JSON)
def test_p26_what_is_written_is_read_back_the_same(value: Any) -> None:
    assert strict_json.parse_json(strict_json.dump_json(value)) == value
    assert strict_json.parse_json(strict_json.compact_json(value).encode("utf-8")) == value


# Strict JSON out


def test_files_are_written_with_two_spaces_real_characters_and_a_final_newline() -> None:
    assert strict_json.dump_json({"é": [1]}) == '{\n  "é": [\n    1\n  ]\n}\n'
    assert strict_json.compact_json({"é": [1, 2.0]}) == '{"é":[1,2.0]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_p24_nan_and_infinities_are_never_written(value: Any) -> None:
    for write in (strict_json.dump_json, strict_json.compact_json):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write(value)


@pytest.mark.parametrize(("text", "repaired"), [("a\ud800b", "a\ufffdb"), ("\udc00", "\ufffd"), ("\ud83d\ude00", "😀"), ("plain", "plain")])
def test_p24_lone_surrogates_are_repaired_in_what_is_written(text: str, repaired: str) -> None:
    assert strict_json.repair_surrogates(text) == repaired
    assert json.loads(strict_json.compact_json([text]).encode("utf-8")) == [repaired]
    assert json.loads(strict_json.dump_json({text: 1}).encode("utf-8")) == {repaired: 1}


# YAML


def test_yaml_is_read_with_the_safe_loader() -> None:
    assert strict_json.parse_yaml(b"a: [1, x]\n") == {"a": [1, "x"]}
    assert strict_json.parse_yaml("'é'") == "é"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: &x 1\nb: *x\n", "alias"),
        ("!!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("a: [1\n", "expected"),
        ("a: 1\n---\nb: 2\n", "found another document"),
        ("[" * 5000, "deeper than 64"),
        ("a: \x00", "not YAML"),
        ("x" * 50, "larger than 40"),
        (b"\xff", "not UTF-8"),
        ("2024-99-99", "not YAML"),
    ],
)
def test_yaml_that_is_unsafe_or_broken_is_refused(text: str | bytes, says: str) -> None:
    with pytest.raises(InvalidDocument, match=says):
        strict_json.parse_yaml(text, path="f.yaml", limit=40 if says.startswith("larger") else 10_000)


# Reading files


def test_p48_an_ordinary_file_is_read_whole(tmp_path: Path) -> None:
    for size in (0, 1, defaults.MAX_FILE_BYTES):
        (tmp_path / "f").write_bytes(b"x" * size)
        assert strict_json.read_bytes(tmp_path / "f") == b"x" * size


def test_p48_a_file_past_the_limit_is_refused_without_being_read(tmp_path: Path) -> None:
    with open(tmp_path / "f", "wb") as file:
        file.truncate(2**40)
    with pytest.raises(InvalidDocument, match="larger than 10 bytes"):
        strict_json.read_bytes(tmp_path / "f", limit=10)


def test_p48_a_fifo_is_refused_at_once_with_and_without_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    with pytest.raises(InvalidDocument, match="no regular file"):
        strict_json.read_bytes(tmp_path / "f")
    holder = os.open(tmp_path / "f", os.O_RDWR)
    try:
        with pytest.raises(InvalidDocument, match="no regular file"):
            strict_json.read_bytes(tmp_path / "f")
    finally:
        os.close(holder)


def test_p48_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("f")
        with pytest.raises(InvalidDocument, match="no regular file"):
            strict_json.read_bytes("f")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/"])
def test_p48_a_device_and_a_directory_are_refused(device: str) -> None:
    with pytest.raises(InvalidDocument, match="no regular file"):
        strict_json.read_bytes(device)


def test_p48_a_link_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("{}", encoding="utf-8")
    for target in (tmp_path / "real", tmp_path / "link", Path("/nowhere")):
        (tmp_path / "link").unlink(missing_ok=True)
        os.symlink(target, tmp_path / "link")
        with pytest.raises(InvalidDocument, match="symbolic link"):
            strict_json.read_bytes(tmp_path / "link")


def test_p48_a_missing_file_is_told_with_its_errno(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot read .*/gone: No such file") as caught:
        strict_json.read_bytes(tmp_path / "gone")
    assert caught.value.details["errno"] == 2


@pytest.mark.skipif(sys.platform != "linux", reason="/proc holds regular files that lie about their size")
def test_p48_a_file_that_lies_about_its_size_is_read_whole_or_refused() -> None:
    assert b"VmRSS" in strict_json.read_bytes("/proc/self/status")
    with pytest.raises(InvalidDocument, match="larger than 10 bytes"):
        strict_json.read_bytes("/proc/self/status", limit=10)
    with pytest.raises(StorageError, match="cannot read /proc/self/mem: Input/output error"):
        strict_json.read_bytes("/proc/self/mem")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_p48_a_file_without_permission_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("{}", encoding="utf-8")
    (tmp_path / "f").chmod(0)
    with pytest.raises(StorageError, match="Permission denied"):
        strict_json.read_bytes(tmp_path / "f")


def test_p48_a_file_that_grows_and_vanishes_while_it_is_read_gives_a_whole_text_or_a_sentence(tmp_path: Path) -> None:
    path, stop = tmp_path / "f", threading.Event()

    def churn() -> None:
        while not stop.is_set():
            strict_json.write_atomic(path, b"{}" + b" " * 5000, durable=False)
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


def test_an_object_is_read_from_its_file_with_the_path_in_its_errors(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text('{"a": 1}', encoding="utf-8")
    assert strict_json.read_object(tmp_path / "f.json") == {"a": 1}
    (tmp_path / "f.json").write_text('{"a": 1', encoding="utf-8")
    with pytest.raises(InvalidDocument, match=r"/f\.json:1:8: is not JSON"):
        strict_json.read_object(tmp_path / "f.json")


# Writing files


def test_p45_a_file_is_replaced_in_one_step_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "f"
    strict_json.write_atomic(path, "é\n", mode=0o600)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == ("é\n".encode(), 0o600)
    strict_json.write_atomic(path, b"two", durable=False)
    assert path.read_bytes() == b"two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_p45_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old", encoding="utf-8")
    os.symlink("target", tmp_path / "f")
    strict_json.write_atomic(tmp_path / "f", "new")
    assert (tmp_path / "target").read_text(encoding="utf-8") == "old"
    assert not (tmp_path / "f").is_symlink()


def test_p47_a_full_disk_changes_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old", encoding="utf-8")
    code = (
        "import resource, signal, sys\n"
        "from vespe.documents import strict_json as documents; from vespe import errors\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        "    documents.write_atomic(sys.argv[1], b'x' * 100_000)\n"
        "except errors.StorageError as error:\n"
        "    print(error, error.details['errno'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "f")], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout == f"cannot write {tmp_path / 'f'}: File too large 27\n"
    assert [(entry.name, entry.read_text(encoding="utf-8")) for entry in tmp_path.iterdir()] == [("f", "old")]


@pytest.mark.parametrize("name", ["no/such/directory/f", "/dev/full/f", "/proc/f", "x" * 300])
def test_p47_a_place_that_cannot_be_written_is_told_in_one_sentence(name: str, tmp_path: Path) -> None:
    path = os.path.join(tmp_path, name)
    with pytest.raises(StorageError, match=f"cannot write {path}: "):
        strict_json.write_atomic(path, b"x")
    assert list(tmp_path.iterdir()) == []


def test_p47_a_directory_in_the_place_of_the_file_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(StorageError):
        strict_json.write_atomic(tmp_path / "f", b"x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


WRITER = """
import sys
from vespe.documents import strict_json as documents
print("ready", flush=True)
while True:
    for letter in (b"a", b"b"):
        documents.write_atomic(sys.argv[1], letter * 200_000, durable=False)
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


@pytest.mark.parametrize(("number", "kept", "error"), [(1, "old", "StorageError cannot write"), (2, "new", "NotDurable")])
def test_p47_what_the_disk_does_not_confirm_is_told_as_what_it_is(number: int, kept: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text("old", encoding="utf-8")
    code = (
        "import sys\nfrom vespe import documents\ntry: documents.write_atomic(sys.argv[1] + '/f.json', 'new')\n"
        "except OSError as error: print(type(error).__name__, error)\n"
    )
    said = with_failing_flush(number, code, tmp_path)
    assert said.startswith(error) and f"{tmp_path}/f.json" in said and "Input/output error" in said
    assert (tmp_path / "f.json").read_text(encoding="utf-8") == kept and os.listdir(tmp_path) == ["f.json"]


@pytest.mark.parametrize(("more", "left"), [((), "aside"), (("/^rename:error=EIO:when=2",), "place")])
def test_p47_a_rename_that_the_disk_does_not_confirm_is_undone_or_told(more: tuple[str, ...], left: str, tmp_path: Path) -> None:
    (tmp_path / "aside").mkdir()
    code = (
        "import sys\nfrom vespe import documents\ntry: documents.rename_durably(sys.argv[1] + '/aside', sys.argv[1] + '/place')\n"
        "except OSError as error: print(type(error).__name__, error)\n"
    )
    said = with_failing_flush(1, code, tmp_path, *more)
    assert said.startswith("NotDurable" if more else "OSError") and os.listdir(tmp_path) == [left]


# The lock

COUNTER = """
import sys
from vespe.documents import strict_json as documents
directory, path = sys.argv[1], sys.argv[1] + "/count.json"
for _ in range(10):
    with documents.locked(directory, timeout_s=60):
        count = documents.read_object(path)["count"]
        documents.write_atomic(path, documents.dump_json({"count": count + 1}), durable=False)
"""


def test_p46_sixteen_processes_lose_no_update(tmp_path: Path) -> None:
    strict_json.write_atomic(tmp_path / "count.json", '{"count": 0}')
    writers = [subprocess.Popen([sys.executable, "-c", COUNTER, str(tmp_path)]) for _ in range(16)]
    assert [writer.wait(timeout=120) for writer in writers] == [0] * 16
    assert strict_json.read_object(tmp_path / "count.json") == {"count": 160}
    assert [entry.name for entry in tmp_path.iterdir()] == ["count.json"]


HOLDER = """
import sys, time
from vespe.documents import strict_json as documents
with documents.locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_p46_a_lock_is_waited_for_then_told_and_falls_with_its_holder(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with (
        pytest.raises(StorageError, match=r"cannot lock .*: another process has held its lock for 0\.05 s"),
        strict_json.locked(str(tmp_path), timeout_s=0.05),
    ):
        pytest.fail("two hold one lock")
    holder.kill()
    holder.communicate()
    with strict_json.locked(str(tmp_path), timeout_s=10):
        assert holder.returncode == -signal.SIGKILL


def test_p46_two_threads_take_turns(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(20):
            with strict_json.locked(str(tmp_path)):
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
    with pytest.raises(StorageError, match=r"cannot lock .*No such file"), strict_json.locked(str(tmp_path / "gone")):
        pytest.fail("locked nothing")


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: Path(path).write_bytes(b"")], ids=["fifo", "file"])
def test_what_is_no_directory_cannot_be_locked_and_does_not_hold_anybody_up(make: Callable[[str], Any], tmp_path: Path) -> None:
    make(str(tmp_path / "odd"))
    with pytest.raises(StorageError, match=r"cannot lock .*odd: Not a directory"), strict_json.locked(str(tmp_path / "odd")):
        pytest.fail("locked what is no directory")


def test_the_lock_is_let_go_when_the_work_inside_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyError), strict_json.locked(str(tmp_path)):
        raise KeyError
    with strict_json.locked(str(tmp_path), timeout_s=0.0):
        assert list(tmp_path.iterdir()) == []
