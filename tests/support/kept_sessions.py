"""A program that calls the tools of a server in sessions that are kept."""

import os
import signal
import threading
from types import TracebackType
from typing import Any

from tests.support.mcp_servers import Quick, Stateful
from vespe.tools import mcp_definitions
from vespe.types.mcp_tool import exchange
from vespe.types.mcp_tool.exchange import Server, SessionAnswer, Surroundings
from vespe.types.mcp_tool.sessions import Sessions


class Client:
    """Calls of one server's tools, as they were approved when this was made."""

    def __init__(
        self, server: Stateful, sessions: Sessions | None = None, **environment: str
    ) -> None:
        self.server, self.sessions = server, sessions or Sessions()
        self._environment = {"PATH": os.environ["PATH"], **environment}
        self._digests = {tool["name"]: mcp_definitions.digest(tool) for tool in self._listed()}

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.sessions.close()

    def ask(
        self,
        name: str,
        *,
        timeout_s: float = 60,
        cancel: threading.Event | None = None,
        **arguments: Any,
    ) -> SessionAnswer:
        """Call a tool."""
        request = {"tool": name, "arguments": arguments, "digest": self._digests[name]}
        surroundings = self._surroundings(timeout_s=timeout_s, cancel=cancel)
        return self.sessions.ask(self._reach(), request, surroundings, name=name, kit="stateful")

    def call(
        self,
        name: str,
        *,
        timeout_s: float = 60,
        cancel: threading.Event | None = None,
        **arguments: Any,
    ) -> str:
        """Call a tool and give its text."""
        document = self.ask(name, timeout_s=timeout_s, cancel=cancel, **arguments).document
        return str(document["result"]["content"][0]["text"])

    def kill_server(self) -> None:
        """Kill the server's process."""
        for line in self.server.processes():
            os.kill(int(line.split()[0]), signal.SIGKILL)

    def _listed(self) -> list[dict[str, Any]]:
        if isinstance(self.server, Quick):
            return self.server.definitions
        answer = exchange.ask(self._reach(), {}, self._surroundings(), name="list", kit="stateful")
        listed: list[dict[str, Any]] = answer.document["tools"]
        return listed

    def _reach(self) -> Server:
        return Server(command=self.server.command)

    def _surroundings(
        self, *, timeout_s: float = 60, cancel: threading.Event | None = None
    ) -> Surroundings:
        directory = os.path.dirname(self.server.command[2])
        return Surroundings(
            directory=directory, environment=self._environment, timeout_s=timeout_s, cancel=cancel
        )
