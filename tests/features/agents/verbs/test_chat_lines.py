"""What a person says in a chat."""

import io
import sys

import pytest

from vespe.features.agents.verbs.chat_lines import next_line


def test_lines_from_a_pipe_come_as_they_are_and_empty_ones_say_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(" one \n\n  \ntwo"))
    assert [next_line() for _ in range(3)] == ["one", "two", None]


def test_an_interruption_without_a_terminal_ends_the_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupted:
        def isatty(self) -> bool:
            return False

        def readline(self) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        next_line()
