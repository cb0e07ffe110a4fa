"""Server-sent events by the WHATWG's rules, and lines of JSON, from bytes cut anywhere; linear, and
bounded.
"""

from typing import Final

from vespe import defaults
from vespe.errors import StreamError

_BOM: Final = b"\xef\xbb\xbf"


class Lines:
    """Whole lines, without their ends, from bytes cut anywhere; `fault` says which cap a body
    broke, and what follows is dropped.

    A line ends with LF or CRLF, with `carriage_returns` also with CR alone. A byte order mark
    before the first line is taken off. `max_line` and `max_body` are in bytes.
    """

    def __init__(
        self,
        *,
        carriage_returns: bool = False,
        max_line: int = defaults.MAX_EVENT_BYTES,
        max_body: int = defaults.MAX_STREAM_BYTES,
    ) -> None:
        self.fault: StreamError | None = None
        self._returns = carriage_returns
        self._max_line, self._max_body = max_line, max_body
        self._left = max_body
        self._waiting = bytearray()
        self._after_return = False
        self._begun = False

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes, and give the lines that they complete."""
        if self.fault is not None or not data:
            return []
        data = bytes(data)
        over = len(data) > self._left
        lines = self._split(data[: self._left] if over else data)
        self._left -= len(data)
        if over:
            self.stop(f"the body is larger than {self._max_body} bytes")
        return lines

    def close(self) -> list[bytes]:
        """Return the last line, where the body did not end it."""
        last = bytes(self._waiting)
        self._waiting.clear()
        if self.fault is not None or not last:
            return []
        return self._checked([last] if self._returns else [last.removesuffix(b"\r")])

    def _split(self, data: bytes) -> list[bytes]:
        if self._after_return:
            data = data[1:] if data[:1] == b"\n" else data
            self._after_return = False
        if self._returns and b"\r" in data:
            self._after_return = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        end = data.rfind(b"\n")
        if end < 0:
            self._wait(data)
            return []
        whole = data[:end]
        if self._waiting:
            whole = bytes(self._waiting) + whole
            self._waiting.clear()
        lines = whole.split(b"\n")
        if not self._returns and b"\r" in whole:
            lines = [line.removesuffix(b"\r") for line in lines]
        lines = self._checked(lines, longest=len(whole))
        self._wait(data[end + 1 :])
        return lines

    def _wait(self, data: bytes) -> None:
        self._waiting += data
        if len(self._waiting) > self._max_line:
            self.stop(f"a line is longer than {self._max_line} bytes")

    def _checked(self, lines: list[bytes], longest: int | None = None) -> list[bytes]:
        if not self._begun:
            self._begun = True
            lines[0] = lines[0].removeprefix(_BOM)
        if longest is not None and longest <= self._max_line:
            return lines
        for at, line in enumerate(lines):
            if len(line) > self._max_line:
                self.stop(f"a line is longer than {self._max_line} bytes")
                return lines[:at]
        return lines

    def stop(self, reason: str) -> None:
        """Take no more, for this reason; the first one counts."""
        if self.fault is None:
            self.fault = StreamError(reason)
        self._waiting.clear()


class EventStream:
    """Server-sent events from bytes cut anywhere, as (event's name or "", data).

    By the WHATWG's rules but for one: `close()` gives an event that the body did not end, since
    servers forget the last blank line. `id` and `retry` are read and mean nothing here. Lines that
    are no field at all, which the rules skip, are kept for `stray()`: a server that fails often
    answers with something else than a stream. `fault` as in `Lines`.
    """

    def __init__(
        self,
        *,
        max_event: int = defaults.MAX_EVENT_BYTES,
        max_body: int = defaults.MAX_STREAM_BYTES,
    ) -> None:
        self._lines = Lines(carriage_returns=True, max_line=max_event, max_body=max_body)
        self._max_event = max_event
        self._name = ""
        self._known: tuple[bytes | None, str] = (None, "")
        self._data: list[bytes] = []
        self._stray: list[bytes] = []
        self._stray_left = max_event
        self._began = False

    @property
    def fault(self) -> StreamError | None:
        """The cap that the body broke; what stood before has been given."""
        return self._lines.fault

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Take the next bytes, and give the events that they complete."""
        return self._events(self._lines.feed(data))

    def close(self) -> list[tuple[str, bytes]]:
        """Return the last event, where the body did not end it."""
        fault = self._lines.fault
        made = self._events([*self._lines.close(), b""]) if fault is None else []
        self._data, self._name = [], ""
        return made

    def stray(self) -> bytes:
        """Return the lines that were no fields: all of a body without events, of another those that
        begin as an object does.
        """
        return b"\n".join(self._stray)

    def _events(self, lines: list[bytes]) -> list[tuple[str, bytes]]:
        made: list[tuple[str, bytes]] = []
        data, name = self._data, self._name
        for line in lines:
            if line[:6] == b"data: ":
                data.append(line[6:])
            elif line == self._known[0]:
                name = self._known[1]
            elif not line:
                if data:
                    whole = data[0] if len(data) == 1 else b"\n".join(data)
                    if len(whole) > self._max_event:
                        self._lines.stop(f"an event is larger than {self._max_event} bytes")
                        break
                    made.append((name, whole))
                    data.clear()
                    self._began = True
                name = ""
            else:
                name = self._field(line, name)
        self._name = name
        return made

    def _field(self, line: bytes, name: str) -> str:
        """Read a line that is neither blank nor the usual `data: …`, and give the event's name
        after it.
        """
        field, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
            self._known = (line, name)
        elif (
            field not in (b"", b"id", b"retry")
            and (not self._began or line[:1] == b"{")
            and self._stray_left >= len(line)
        ):
            self._stray.append(line)
            self._stray_left -= len(line)
        return name
