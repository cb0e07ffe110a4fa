"""When a server looks whether its project's tools changed, and when it tells its clients."""

import time
from typing import Final, Protocol

from vespe.errors import Interrupted
from vespe.features.mcp.server import unforeseen

_SHARE: Final = 50
"""Looking takes at most one part in so many of the time,"""
_PATIENCE_S: Final = 1.0
_LARGE_SHARE: Final = 10
"""but where that would keep clients waiting for longer, one in so many."""


class Watched(Protocol):
    """What is watched: `vespe.features.mcp.server.tools.ServedTools`."""

    @property
    def version(self) -> int:
        """Another number each time when what is shown became another list."""
        ...

    def refresh(self) -> bool:
        """Look whether it did."""
        ...


class Changes:
    """Watches the tools of one server for as many clients as it has."""

    def __init__(self, tools: Watched) -> None:
        self._tools = tools
        self._told = self._seen = tools.version
        self._due = 0.0
        self._failed = ""

    def look(self) -> bool:
        """Look once; True where clients are to be told now: since the last time nothing changed any
        more, and before it something did.
        """
        started = time.monotonic()
        if started < self._due:
            return False
        self._refresh()
        spent = time.monotonic() - started
        self._due = started + min(spent * _SHARE, max(_PATIENCE_S, spent * _LARGE_SHARE))
        settled, self._seen = self._seen == self._tools.version, self._tools.version
        if not settled or self._told == self._seen:
            return False
        self._told = self._seen
        return True

    def _refresh(self) -> None:
        """Look at the tools. An error that nobody foresaw is logged once: the server lives on, and
        whoever asks for the list is told.
        """
        try:
            self._tools.refresh()
        except Interrupted:
            raise
        except Exception as error:
            if self._failed != repr(error):
                unforeseen.log("the watch for changes", error)
            self._failed = repr(error)
