"""`vespe agent chat`."""

import io
import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import call, results
from tests.features.agents.verbs.test_run import SLEEP, script
from tests.support.ondisk import PATIENCE_S, interruptible, python_tool, write_tool

Command = Callable[..., Any]


def say(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(
        sys,
        "stdin",
        io.TextIOWrapper(
            io.BytesIO("".join(f"{line}\n" for line in lines).encode()), encoding="utf-8"
        ),
    )


def test_a_session_has_a_history_and_is_saved_and_loaded(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(
        monkeypatch,
        "one",
        "",
        "two",
        "/save talk.json",
        "/undo",
        "/load talk.json",
        "/quit",
        "never",
    )
    said = command("agent", "chat", *script(project, "first", "second"))
    assert (said.code, said.out) == (0, "first\nsecond\n") and "loaded 4 messages" in said.err
    assert [
        message["content"]
        for message in json.loads((project / "talk.json").read_text(encoding="utf-8"))["messages"]
    ] == [
        "one",
        "first",
        "two",
        "second",
    ]


def test_what_goes_wrong_is_said_and_the_session_goes_on(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(
        monkeypatch,
        "/nonsense",
        "/save",
        "/load none.json",
        "bad",
        "good",
        "/undo",
        "/undo",
        "/tools",
        "/help",
    )
    said = command(
        "agent",
        "chat",
        *script(project, {"fail": {"cut": 0, "times": 1}}, "never", name="bad.json"),
    )
    assert said.code == 0
    for part in (
        "no command /nonsense",
        "say which file",
        "none.json",
        "your last message was removed; enter it again",
        "shown no tools",
        "/undo",
    ):
        assert part in said.err


def test_p1_an_untrusted_project_is_6(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = script(project, "hi")
    command("untrust")
    say(monkeypatch, "hello")
    assert command("agent", "chat", *arguments).code == 6


class Terminal:
    """A chat on a pseudo-terminal."""

    def __init__(self, project: Path, *arguments: str) -> None:
        self.fd, theirs = pty.openpty()
        environment = {
            name: value for name, value in interruptible(TERM="xterm").items() if name != "CI"
        }
        argv = [sys.executable, "-m", "vespe", "agent", "chat", *arguments]
        self.process = subprocess.Popen(  # our own command
            argv,
            cwd=project,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
            preexec_fn=_controlling,
        )
        os.close(theirs)
        self.seen = ""

    def wait_for(self, text: str) -> None:
        while text not in self.seen:
            assert select.select([self.fd], [], [], PATIENCE_S)[0], (
                f"{text!r} did not come: {self.seen!r}"
            )
            self.seen += os.read(self.fd, 65536).decode("utf-8", "replace")
        self.seen = self.seen.partition(text)[2]

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C at the prompt until another one comes: readline sleeps on where the signal
        comes just before it waits.
        """
        for _ in range(20):
            self.type("\x03")
            if select.select([self.fd], [], [], 1)[0]:
                return self.wait_for("> ")
        raise AssertionError(f"Ctrl-C does nothing: {self.seen!r}")


def _controlling() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal(project: Path) -> Iterator[Callable[..., Terminal]]:
    """Start chats on a terminal, and end what is left of them."""
    started: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        started.append(Terminal(project, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
        os.close(one.fd)


def test_ctrl_c_ends_a_turn_and_not_the_session_and_ctrl_d_ends_it(
    project: Path, terminal: Callable[..., Terminal]
) -> None:
    write_tool(project / ".vespe/tools/tool-sleep", "sleep", implementation=SLEEP)
    chat = terminal(
        *script(project, [call("sleep"), call("sleep")], "I am back."), "--approve", "all"
    )
    chat.wait_for("> ")
    chat.type("go\n")
    chat.wait_for("-> sleep {}")
    chat.type("\x03")
    chat.wait_for("the session goes on")
    chat.type("are you there?\n")
    chat.wait_for("I am back.")
    chat.type("/save talk.json\n")
    chat.wait_for("saved")
    chat.wait_for("> ")
    chat.interrupt()
    chat.type("\x04")
    assert chat.process.wait(PATIENCE_S) == 0
    told = [
        text
        for _, text in results(
            json.loads((project / "talk.json").read_text(encoding="utf-8"))["messages"]
        )
    ]
    assert told[0].startswith("interrupted") and told[1] == "not run: the user ended the turn"


def test_ctrl_c_at_a_question_begins_a_new_line(
    project: Path, terminal: Callable[..., Terminal]
) -> None:
    python_tool(project / ".vespe/tools/tool-mark", "mark", "return 'marked'")
    chat = terminal(*script(project, [call("mark")], "one"))
    chat.wait_for("> ")
    chat.type("go\n")
    chat.wait_for("explains] ")
    chat.type("\x03")
    chat.wait_for("^C\r\nvespe: interrupted; the session goes on")


def test_a_person_is_asked_with_everything_that_the_tool_would_get_and_an_answer_holds(
    project: Path, terminal: Callable[..., Terminal]
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "string"}}}
    python_tool(project / ".vespe/tools/tool-mark", "mark", "return 'marked'", schema=schema)
    chat = terminal(
        *script(project, [call("mark", {"n": "a\x1b[2Jb"})], "one", [call("mark")], "two")
    )
    chat.wait_for("> ")
    chat.type("go\n")
    chat.wait_for("a\\u001b[2Jb")
    chat.wait_for("explains] ")
    chat.type("?\n")
    chat.wait_for("until the tool changes")
    chat.type("p\n")
    chat.wait_for("one")
    chat.type("again\n")
    chat.wait_for("two")
    chat.wait_for("> ")
    chat.type("\x04")
    assert chat.process.wait(PATIENCE_S) == 0
