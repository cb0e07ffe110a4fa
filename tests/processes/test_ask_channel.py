"""Our side of the descriptor by which a process asks: lines, their bounds, and who answers them."""

import os
import select
import threading

from vespe.processes.ask_channel import MAX_LINE, AskChannel, variables


class Echo:
    """Answers each line with itself, after `wait`."""

    paused_s = 0.0
    is_suspended = False

    def __init__(self) -> None:
        self.lines: list[bytes | None] = []
        self.wait = threading.Event()
        self.wait.set()

    def answer(self, line: bytes | None, over: threading.Event) -> bytes:
        """Answer, as `Questions` says."""
        self.lines.append(line)
        while not self.wait.wait(0.05) and not over.is_set():
            continue
        return b"too long" if line is None else line


def pump(channel: AskChannel) -> bool:
    """Take all that is there; False where nothing more comes."""
    goes_on = True
    while goes_on and select.select([channel.ours], [], [], 0.2)[0]:
        goes_on = channel.take()
    return goes_on


def test_lines_are_answered_in_their_order_and_too_long_ones_are_left_out() -> None:
    echo, channel = Echo(), AskChannel()
    theirs = channel.give()
    channel.begin(echo)
    sent = b"one\n" + b"x" * (MAX_LINE + 1) + b"\ntwo\nha"
    writer = threading.Thread(target=os.write, args=(theirs, sent))
    writer.start()
    assert pump(channel)
    writer.join()
    answered = b""
    while answered.count(b"\n") < 3:
        answered += os.read(theirs, 65536)
    assert answered == b"one\ntoo long\ntwo\n" and echo.lines == [b"one", None, b"two"]
    channel.begin(echo)
    os.write(theirs, b"three\n")
    assert pump(channel)
    assert os.read(theirs, 64) == b"three\n"  # what was half a line is forgotten
    os.close(theirs)
    assert not pump(channel)
    channel.close()


def test_who_asks_too_fast_is_hung_up_on_and_at_the_end_nobody_is_waited_for() -> None:
    echo, channel = Echo(), AskChannel()
    theirs = channel.give()
    echo.wait.clear()
    channel.begin(echo)
    os.write(theirs, b"a\n" * 40)
    assert not pump(channel)
    channel.hang_up()
    assert os.read(theirs, 64) == b""
    assert len(echo.lines) == 1
    os.close(theirs)
    channel.close()


def test_only_a_call_that_may_ask_is_told_where() -> None:
    assert variables(None) == {} and variables(Echo()) == {"VESPE_ASK_FD": "4,4"}
