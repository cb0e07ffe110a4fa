"""Digests of files and trees: line ends, and differences in words."""

import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.files import digests
from vespe.files.digests import File, TextDigest, Tree


@given(st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", b"\0", b"\xff"]), max_size=12), st.integers(1, 4))
@settings(max_examples=150)
def test_line_ends_are_normalised_however_the_stream_is_cut(pieces: list[bytes], step: int) -> None:
    data = b"".join(pieces)
    digest = TextDigest()
    for start in range(0, len(data), step):
        digest.update(data[start : start + step])
    normal = data if b"\0" in data else data.replace(b"\r\n", b"\n")
    assert digest.hexdigest() == hashlib.sha256(normal).hexdigest()


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
    said = digests.changes({}, Tree(odd={"": "no directory"}), prefix="tools/")
    assert said == ("tools is no directory",)
