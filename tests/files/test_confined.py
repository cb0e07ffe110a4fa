"""Files beneath one directory: what leads out is refused, also while somebody swaps the steps."""

import contextlib
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.descriptors import left_open, opened
from vespe.errors import InvalidArguments, InvalidDocument, StorageError
from vespe.files import confined
from vespe.files.confined import MAX_DEPTH, Directory, DirectoryEntry, PathRefused, replaced

SECRET = "outside, and nobody's business"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory `r/tools` with a file, and beside it a secret and a directory whose name only
    begins the same.
    """
    root = tmp_path / "r" / "tools"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "r" / "secret.txt").write_text(SECRET, encoding="utf-8")
    (tmp_path / "r" / "tools-evil").mkdir()
    (tmp_path / "r" / "tools-evil" / "secret.txt").write_text(SECRET, encoding="utf-8")
    return root


@pytest.fixture
def directory(root: Path) -> Iterator[Directory]:
    with Directory(root) as opened:
        yield opened


REFUSED = [
    "",
    "/etc/passwd",
    "..",
    "../secret.txt",
    "../tools-evil/secret.txt",
    "sub/../../secret.txt",
    "sub/..",
    "./../secret.txt",
    "..\\secret.txt",
    "sub\\a.txt",
    "~/secret.txt",
    "sub/a.txt\0.md",
    "\udcff",
    "a/" * (MAX_DEPTH + 1) + "b",
]


@pytest.mark.parametrize("path", REFUSED)
def test_p17_a_path_that_leads_out_is_refused_by_every_operation(
    directory: Directory, path: str
) -> None:
    for operation in (
        directory.read_bytes,
        directory.list,
        directory.kind,
        directory.remove,
        lambda p: list(directory.walk(p)),
        lambda p: directory.write_text(p, "x"),
        lambda p: directory.replace_text(p, "x", "y"),
    ):
        with pytest.raises(PathRefused):
            operation(path)


def test_p17_the_absolute_path_of_a_file_inside_or_of_a_sibling_with_the_same_prefix_is_refused(
    directory: Directory, root: Path
) -> None:
    for path in (str(root / "sub" / "a.txt"), f"{root}-evil/secret.txt"):
        with pytest.raises(PathRefused, match="absolute"):
            directory.read_text(path)


def test_p17_a_symbolic_link_is_refused_at_every_step(directory: Directory, root: Path) -> None:
    (root / "out").symlink_to(root.parent)
    (root / "inside").symlink_to("sub")
    (root / "file").symlink_to("../secret.txt")
    for path in ("out/secret.txt", "inside/a.txt", "file", "out/tools/sub/a.txt"):
        with pytest.raises(PathRefused, match="symbolic link"):
            directory.read_text(path)
        with pytest.raises(PathRefused, match="symbolic link"):
            directory.write_text(path, "x")
    with pytest.raises(PathRefused, match="symbolic link"):
        directory.list("out")
    assert (root.parent / "secret.txt").read_text(encoding="utf-8") == SECRET


def test_p17_a_new_file_through_a_link_makes_nothing_outside(
    directory: Directory, root: Path
) -> None:
    (root / "out").symlink_to(root.parent)
    with pytest.raises(PathRefused):
        directory.write_text("out/new/file.txt", "x")
    assert not (root.parent / "new").exists()


def test_p17_a_dangling_link_is_refused_and_its_target_is_not_made(
    directory: Directory, root: Path
) -> None:
    (root / "dangling").symlink_to("../made.txt")
    with pytest.raises(PathRefused, match="symbolic link"):
        directory.write_text("dangling", "x")
    assert not (root.parent / "made.txt").exists()


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("./~\\a\0 é"), max_size=12))
def test_p17_no_text_reads_or_lists_what_is_outside(
    tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    base = tmp_path_factory.mktemp("any")
    (base / "a").write_text(SECRET, encoding="utf-8")
    (base / "r").mkdir()
    with Directory(base / "r") as directory:
        with pytest.raises((PathRefused, StorageError)):
            directory.read_text(path)
        with contextlib.suppress(PathRefused, StorageError):
            assert directory.list(path) == []


def swap(root: Path, done: threading.Event) -> None:
    """Make `sub` by turns the directory and a link out, as fast as the file system goes."""
    real, link, sub = root / "real", root / "link", root / "sub"
    link.symlink_to(root.parent / "tools-evil")
    while not done.is_set():
        os.rename(sub, real)
        os.rename(link, sub)
        os.rename(sub, link)
        os.rename(real, sub)


def test_p17_a_directory_that_becomes_a_link_between_steps_never_leads_out(
    directory: Directory, root: Path
) -> None:
    (root / "sub" / "secret.txt").write_text("inside", encoding="utf-8")
    done = threading.Event()
    thread = threading.Thread(target=swap, args=(root, done))
    thread.start()
    seen: set[str] = set()
    try:
        for _ in range(3000):
            try:
                seen.add(directory.read_text("sub/secret.txt"))
                directory.replace_text("sub/secret.txt", "in", "in")
                seen.update(entry.path for entry in directory.list("sub"))
            except (PathRefused, StorageError):
                seen.add("refused")
    finally:
        done.set()
        thread.join()
    assert {"inside", "refused"} <= seen and SECRET not in seen
    assert (root.parent / "tools-evil" / "secret.txt").read_text(encoding="utf-8") == SECRET
    assert [p.name for p in (root.parent / "tools-evil").iterdir()] == ["secret.txt"]


def test_a_root_that_is_moved_away_stays_the_same_directory(
    directory: Directory, root: Path
) -> None:
    root.rename(root.parent / "moved")
    root.symlink_to(root.parent / "tools-evil")
    assert directory.read_text("sub/a.txt") == "one\ntwo\n"


def test_pipes_sockets_devices_and_directories_are_refused_without_blocking(
    directory: Directory, root: Path
) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.getcwd()
        os.chdir(root)  # a socket's path is short
        bound.bind("socket")
        os.chdir(here)
        for path, why in (
            ("pipe", "pipe"),
            ("socket", "socket"),
            ("sub", "a directory"),
            ("sub/", "directory"),
            (".", "directory"),
        ):
            with pytest.raises(PathRefused, match=why):
                directory.read_bytes(path)
            with pytest.raises(PathRefused, match=why):
                directory.write_text(path, "x")
    assert stat.S_ISFIFO((root / "pipe").lstat().st_mode)


@pytest.mark.parametrize(
    "name", [".git", ".GIT", ".Git ", ".git.", ".g\u200dit", ".vespe", ".Vespe", ".veſpe"]
)
def test_the_projects_own_directories_are_read_and_never_written(
    directory: Directory, root: Path, name: str
) -> None:
    (root / name).mkdir()
    (root / name / "config").write_text("old", encoding="utf-8")
    assert directory.read_text(f"{name}/config") == "old"
    for path in (f"{name}/config", f"{name}/hooks/post-commit", f"sub/{name}/config", name):
        with pytest.raises(PathRefused, match="can read but not write"):
            directory.write_text(path, "x")
        with pytest.raises(PathRefused, match="can read but not write"):
            directory.check_writable(path)
    for change in (lambda p: directory.replace_text(p, "old", "new"), directory.remove):
        with pytest.raises(PathRefused, match="can read but not write"):
            change(f"{name}/config")
    assert [p.name for p in (root / name).iterdir()] == ["config"]


def test_a_name_that_only_begins_like_git_is_an_ordinary_name(directory: Directory) -> None:
    directory.write_text(".gitignore", "*.pyc\n")
    directory.write_text(".github/workflows/test.yml", "on: push\n")
    assert directory.read_text(".gitignore") == "*.pyc\n"


def test_writing_makes_directories_and_says_what_it_did(directory: Directory, root: Path) -> None:
    first = directory.write_text("deep/er/é.txt", "hé")
    assert (first.size, first.created) == (3, True)
    assert directory.write_text("deep//er/./é.txt", "x").created is False
    assert (root / "deep" / "er" / "é.txt").read_bytes() == b"x"
    assert sorted(p.name for p in (root / "deep" / "er").iterdir()) == ["é.txt"]


def test_an_existing_file_keeps_its_mode_and_other_links_keep_their_bytes(
    directory: Directory, root: Path
) -> None:
    file = root / "sub" / "a.txt"
    file.chmod(0o754)
    os.link(file, root.parent / "other-name")
    directory.write_text("sub/a.txt", "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o754
    assert (root.parent / "other-name").read_text(encoding="utf-8") == "one\ntwo\n"


def test_a_read_only_file_stays_as_it_is(directory: Directory, root: Path) -> None:
    (root / "sub" / "a.txt").chmod(0o444)
    with pytest.raises(PathRefused, match="read-only"):
        directory.write_text("sub/a.txt", "new")
    assert directory.read_text("sub/a.txt") == "one\ntwo\n"


def test_what_can_be_written_is_known_beforehand(directory: Directory, root: Path) -> None:
    assert [
        directory.check_writable(path) for path in ("sub/a.txt", "sub/new.txt", "new/er.txt")
    ] == [True, False, False]
    (root / "link").symlink_to("sub/a.txt")
    (root / "sub" / "a.txt").chmod(0o444)
    for path, why in (
        ("sub", "a directory"),
        ("link", "symbolic link"),
        ("sub/a.txt", "read-only"),
        ("sub/a.txt/b", "no directory"),
    ):
        with pytest.raises(PathRefused, match=why):
            directory.check_writable(path)


def test_a_write_that_the_system_refuses_leaves_nothing_behind(
    directory: Directory, root: Path
) -> None:
    with pytest.raises(StorageError, match=r"cannot write .* too long"):
        directory.write_text("n" * 300, "x")
    with pytest.raises(PathRefused, match="no directory"):
        directory.write_text("sub/a.txt/b", "x")
    assert [p.name for p in root.iterdir()] == ["sub"]


def test_reading_is_bounded_and_wants_utf8(directory: Directory, root: Path) -> None:
    (root / "latin").write_bytes(b"ok\ncaf\xe9")
    assert directory.read_bytes("latin", limit=7) == b"ok\ncaf\xe9"
    with pytest.raises(InvalidDocument, match="larger than 6 bytes"):
        directory.read_bytes("latin", limit=6)
    with pytest.raises(InvalidDocument, match="latin:2: is not UTF-8 text: byte 0xe9"):
        directory.read_text("latin")
    with pytest.raises(StorageError, match=r"cannot read missing\.txt: No such file"):
        directory.read_text("missing.txt")


def test_replacing_wants_exactly_one_place_unless_told_otherwise(directory: Directory) -> None:
    assert directory.replace_text("sub/a.txt", "one", "eins").replacements == 1
    with pytest.raises(InvalidArguments, match="does not contain"):
        directory.replace_text("sub/a.txt", "one", "x")
    with pytest.raises(InvalidArguments, match="2 times"):
        directory.replace_text("sub/a.txt", "\n", "")
    assert directory.replace_text("sub/a.txt", "\n", "|", replace_all=True) == (9, False, 2)
    assert directory.read_text("sub/a.txt") == "eins|two|"


def test_what_cannot_be_replaced_says_why() -> None:
    with pytest.raises(InvalidArguments, match="is empty"):
        replaced("text", "", "x")
    with pytest.raises(InvalidArguments, match="CR LF"):
        replaced("a\r\nb", "a\nb", "x")


def test_replacements_at_the_same_time_all_arrive(root: Path) -> None:
    (root / "count").write_text("".join(f"<{n}>" for n in range(40)), encoding="utf-8")

    def edit(numbers: range) -> None:
        with Directory(root) as directory:
            for number in numbers:
                directory.replace_text("count", f"<{number}>", f"[{number}]")

    threads = [threading.Thread(target=edit, args=(range(start, 40, 4),)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (root / "count").read_text(encoding="utf-8") == "".join(f"[{n}]" for n in range(40))


def test_listing_names_links_and_pipes_and_walking_goes_through_neither_links_nor_git(
    directory: Directory, root: Path
) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("x", encoding="utf-8")
    (root / "loop").symlink_to(".")
    os.mkfifo(root / "pipe")
    assert [(e.path, e.kind, e.size) for e in directory.walk()] == [
        (".git", "directory", 0),
        ("loop", "link", 0),
        ("pipe", "other", 0),
        ("sub", "directory", 0),
        ("sub/a.txt", "file", 8),
    ]
    assert directory.list("sub/") == [DirectoryEntry(path="sub/a.txt", kind="file", size=8)]
    assert [directory.kind(p) for p in ("sub", "loop", "pipe", "sub/a.txt", "nothing")] == [
        "directory",
        "link",
        "other",
        "file",
        None,
    ]


def test_a_name_that_is_not_utf8_is_shown_repaired(directory: Directory, root: Path) -> None:
    try:
        os.close(os.open(os.fsencode(root) + b"/caf\xe9", os.O_CREAT | os.O_WRONLY))
    except OSError:
        assert sys.platform == "darwin", "only macOS refuses such a name"
        return
    assert [entry.path for entry in directory.list()] == ["caf\ufffd", "sub"]


def test_a_directory_that_cannot_be_gone_into_is_given_with_its_reason(
    directory: Directory, root: Path
) -> None:
    inner: str | Path = root
    fd = os.open(inner, os.O_RDONLY)
    for _ in range(MAX_DEPTH + 3):
        os.mkdir("d", dir_fd=fd)
        deeper = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = deeper
    os.close(fd)
    deepest = [entry for entry in directory.walk("d") if entry.kind == "directory"][-1]
    assert (
        deepest.path.count("/") == MAX_DEPTH
        and deepest.problem == f"deeper than {MAX_DEPTH} directories"
    )


def test_removing_takes_a_file_and_nothing_else(directory: Directory, root: Path) -> None:
    directory.remove("sub/a.txt")
    with pytest.raises(PathRefused, match="is a directory"):
        directory.remove("sub")
    assert list((root / "sub").iterdir()) == []


def test_a_closed_directory_reads_nothing(root: Path) -> None:
    directory = Directory(root)
    directory.close()
    directory.close()
    with pytest.raises(StorageError):
        directory.read_text("sub/a.txt")
    with pytest.raises(StorageError, match="cannot open"):
        Directory(root / "sub" / "a.txt")


def test_no_descriptor_is_left_open(directory: Directory, root: Path) -> None:
    (root / "link").symlink_to("sub")
    before = opened()
    for path in ("sub/a.txt", "link/a.txt", "missing/x", "sub", "..", "x" * 300):
        for operation in (
            directory.read_text,
            directory.list,
            lambda p: next(directory.walk(p)),
            directory.kind,
        ):
            with contextlib.suppress(PathRefused, StorageError):
                operation(path)
    assert not left_open(before)


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, vespe.files.confined; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    ).stdout.split()
    assert not {"json", "pathlib", "tempfile", "dataclasses", "subprocess", "inspect"} & set(loaded)


def test_copies_of_shipped_tools_still_find_the_earlier_name_of_an_entry() -> None:
    assert confined.Entry is confined.DirectoryEntry
