"""Digests of files and trees: line ends, and differences in words."""

import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.files import digests
from vespe.files.digests import File, TextDigest, Tree, sha256

PIECES = st.lists(
    st.sampled_from([b"\r", b"\n", b"\r\n", b"a", b"\0", b"\xff", b"#!"]), max_size=12
)


def digest(data: bytes, *, step: int = 99, exact: bool = False) -> str:
    taken = TextDigest(exact=exact)
    for start in range(0, len(data), step):
        taken.update(data[start : start + step])
    return taken.hexdigest()


@given(PIECES, st.integers(1, 4), st.booleans())
@settings(max_examples=200)
def test_p2_line_ends_are_normalised_only_where_all_are_alike_however_the_stream_is_cut(
    pieces: list[bytes], step: int, exact: bool
) -> None:
    data = b"".join(pieces)
    mixed = data.count(b"\n") != data.count(b"\r\n")
    counts = exact or mixed or b"\0" in data or data.startswith(b"#!")
    normal = data if counts else data.replace(b"\r\n", b"\n")
    assert digest(data, step=step, exact=exact) == hashlib.sha256(normal).hexdigest()


@given(
    st.lists(
        st.sampled_from([b"case $1 in", b"dry-run) ;;", b"*) real ;;", b""]), min_size=2, max_size=6
    ),
    st.data(),
)
def test_p2_one_line_end_more_in_crlf_is_a_change_and_all_of_them_are_none(
    lines: list[bytes], data: st.DataObject
) -> None:
    flipped = data.draw(st.integers(0, len(lines) - 1))
    text = b"".join(line + b"\n" for line in lines)
    assert digest(text) != digest(
        b"".join(line + (b"\r\n" if at == flipped else b"\n") for at, line in enumerate(lines))
    )
    assert (
        digest(text)
        == digest(text.replace(b"\n", b"\r\n"))
        != digest(text.replace(b"\n", b"\r\n"), exact=True)
    )


def test_changes_are_said_in_words_with_renames_found() -> None:
    def file(text: str, *, executable: bool = False) -> File:
        return File(executable=executable, sha256=text)

    old = {"a": file("1"), "b": file("2"), "c": file("3"), "d": file("4"), "e": file("5")}
    new = Tree(
        files={"a": file("1", executable=True), "b": file("9"), "moved": file("3"), "n": file("7")},
        odd={"e": "a symbolic link"},
    )
    assert digests.changes(old, new, prefix="tools/") == (
        "tools/e is a symbolic link",
        "renamed tools/c -> tools/moved",
        "removed tools/d",
        "added tools/n",
        "mode of tools/a: may now be executed",
        "changed tools/b",
    )


def test_equal_files_that_move_are_each_renamed_once() -> None:
    twin = File(executable=False, sha256="1")
    said = digests.changes({"a": twin, "b": twin}, Tree(files={"c": twin, "d": twin, "e": twin}))
    assert said == ("renamed a -> c", "renamed b -> d", "added e")


def test_an_odd_root_is_named_without_a_slash() -> None:
    said = digests.changes({}, Tree(odd={"": "not a directory"}), prefix="tools/")
    assert said == ("tools is not a directory",)


def test_the_quick_sha256_is_the_standard_library_s() -> None:
    for data in (b"", b"abc", bytes(1000)):
        assert sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()
