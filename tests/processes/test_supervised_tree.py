"""What a supervisor is given, and what is kept of what comes through its pipes."""

import os

import pytest

from vespe.errors import InvalidArguments
from vespe.processes.supervised_tree import Output, payload


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"argv": ["x", "a\0b"]}, "argument 1 of the process holds a NUL character"),
        ({"argv": ["x", "\ud800"]}, "argument 1 of the process holds a lone surrogate"),
        ({"cwd": "/a\0b"}, "the working directory holds a NUL character"),
        ({"env": {"A": "b\0c"}}, "the variable A holds a NUL character"),
    ],
)
def test_what_no_process_can_be_given_is_refused_before_anything_starts(fields: dict[str, object], said: str) -> None:
    given: dict[str, object] = {"argv": ["x"], "cwd": "/", "env": {}, "result": False, **fields}
    with pytest.raises(InvalidArguments, match=said):
        payload([given.pop("argv")], **given)  # type: ignore[arg-type,list-item]  # the table holds all of them as objects


def piped(*pieces: bytes, cap: int = 1000, keep_tail: bool = False) -> list[Output]:
    """The state of an Output after each piece."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    output = Output(reader, cap, keep_tail=keep_tail)
    for piece in pieces:
        os.write(writer, piece)
        output.read()
    os.close(writer)
    os.close(reader)
    return [output]


def test_lines_are_given_whole_and_the_rest_is_kept() -> None:
    (output,) = piped(b"one\ntw")
    assert output.lines() == [b"one"] and bytes(output.data) == b"tw"
    (output,) = piped(b"no", b" end")
    assert output.lines() == [] and bytes(output.data) == b"no end"


def test_what_came_since_a_mark_is_told_from_what_came_before() -> None:
    (output,) = piped(b"before", b"after", keep_tail=True)
    assert output.kept_since(6) == b"after" and output.kept_since(11) == b""
    (output,) = piped(b"a" * 900, b"b" * 900, cap=100, keep_tail=True)
    assert output.kept_since(0) == b"b" * 100 and output.kept_since(1790) == b"b" * 10
