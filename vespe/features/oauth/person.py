"""The person who logs in: their browser, and the redirect that it ends at, which comes to a port of
this machine or is pasted.
"""

import contextlib
import http.server
import os
import queue
import secrets
import select
import sys
import threading
import time
import urllib.parse
import webbrowser
from typing import Any, ClassVar, Final, NamedTuple

from vespe.cli import options, report
from vespe.defaults import REDIRECT_HOSTS
from vespe.errors import Interrupted, Refused, StorageError, TimedOut
from vespe.features.oauth.sdk import LoginQuestion

PATIENCE_S: Final = 600.0
_PATH: Final = "/callback"
_POLL_S: Final = 0.2
_SAID: Final = 300
_PAGE: Final = (
    "<!doctype html><meta charset=utf-8><title>Vespe</title>"
    "<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:34em;margin:4em auto;padding:0 1em}}"
    "</style><p>{}</p>"
)


class Redirect(NamedTuple):
    """What a redirect brought: its parameters, each of which came once."""

    code: str
    state: str
    issuer: str | None


class Browser:
    """Leads a person to a login, and waits for where they are sent afterwards: at a port of this
    machine, or as a line on the terminal. A context manager.

    With `opens` their browser is opened, else the URL is printed. `yes` asks no question first.
    """

    def __init__(
        self,
        *,
        host: str = "",
        port: int,
        opens: bool,
        yes: bool,
        cancel: threading.Event,
        patience_s: float,
    ) -> None:
        self._opens, self._yes, self._cancel = opens, yes, cancel
        self._patience_s = patience_s
        self._come: queue.SimpleQueue[Redirect | Refused] = queue.SimpleQueue()
        self._state, self._pasted = "", b""
        self._server = _listening(port, self)
        self.port: int = self._server.server_address[1]
        self.redirect_uri = f"http://{host or REDIRECT_HOSTS[0]}:{self.port}{_PATH}"
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def ask(self, question: LoginQuestion) -> None:
        """Ask whether to log in, and lead the person there; raises Refused for a no."""
        self._state = _first(question.url, "state")
        host = urllib.parse.urlsplit(question.issuer).netloc
        report.say(
            f"{report.one_line(question.server)} requires a login at {report.one_line(host)}"
        )
        if question.scope:
            report.say(f"  scopes  {report.one_line(question.scope)}")
        options.confirm(f"Log in at {report.one_line(question.issuer)}?", yes=self._yes)
        if self._opens and _opened(question.url):
            report.say(
                "Log in in your browser. If none opened, open this URL in one:\n"
                f"{report.one_line(question.url)}"
            )
        else:
            report.say(f"Open this URL in a browser:\n{report.one_line(question.url)}")
        report.say(
            "On another machine, the browser shows an error at an address that begins with "
            f"{self.redirect_uri}; paste that address here."
        )

    def answer(self) -> tuple[str, str, str | None]:
        """Wait for the redirect. Raises Refused where the authorization server says no, or the
        person gives up, TimedOut, Interrupted.
        """
        until = time.monotonic() + self._patience_s
        while not self._cancel.is_set():
            with contextlib.suppress(queue.Empty):
                come = self._come.get_nowait()
                if isinstance(come, Refused):
                    raise come
                return come
            if time.monotonic() >= until:
                raise TimedOut("the login", seconds=self._patience_s, hint="run it again")
            if select.select([0], [], [], _POLL_S)[0]:
                self._read()
        raise Interrupted("the login was cancelled: nothing was saved")

    def take(self, query: str) -> str:
        """Take the query of a redirect; return what is wrong with it, "" for nothing. One that is
        not for this login is not taken.
        """
        found = urllib.parse.parse_qs(query, keep_blank_values=True)
        state = found.get("state", [""])
        if not self._state or not secrets.compare_digest(state[0].encode(), self._state.encode()):
            return "its `state` does not belong to this login"
        if any(len(values) > 1 for values in found.values()):
            return "it has a parameter twice"
        said = {name: values[0] for name, values in found.items()}
        if "error" in said:
            words = [said[key] for key in ("error", "error_description") if said.get(key)]
            self._come.put(
                Refused(
                    f"the authorization server refused the login: {': '.join(words)[:_SAID]}",
                    hint="nothing was saved; log in again to retry",
                )
            )
            return ""
        if not said.get("code"):
            return "it has no `code`"
        self._come.put(Redirect(said["code"], state[0], said.get("iss")))
        return ""

    def _read(self) -> None:
        """Take the lines that were typed or pasted."""
        data = os.read(0, 64 * 1024)
        if not data:
            raise Refused("not logged in: the terminal was closed before the login was done")
        *lines, self._pasted = (self._pasted + data).split(b"\n")
        for line in (line.decode("utf-8", "replace").strip() for line in lines):
            if line and (wrong := self._paste(line)):
                report.say(
                    f"That is not the address that the browser ended at: {wrong}. Paste the "
                    f"complete address; it begins with {self.redirect_uri}?"
                )

    def _paste(self, line: str) -> str:
        try:
            query = urllib.parse.urlsplit(line).query
        except ValueError:
            return "it is not a URL"
        return self.take(query) if query else "it has no `?code=…&state=…`"


class _Handler(http.server.BaseHTTPRequestHandler):
    timeout: ClassVar[float] = 10.0
    protocol_version = "HTTP/1.0"
    browser: Browser

    def do_GET(self) -> None:
        """Answer the redirect with a page that says how to go on."""
        path, _, query = self.path.partition("?")
        if path != _PATH:
            return self._say(404, "There is nothing here.")
        if wrong := self.browser.take(query):
            return self._say(400, f"This is not the answer to the current login: {wrong}.")
        return self._say(200, "Vespe has the answer: go back to the terminal. You can close this.")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the request holds the code."""

    def _say(self, status: int, text: str) -> None:
        body = _PAGE.format(text.replace("`", "")).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
        self.end_headers()
        self.wfile.write(body)


def can_open_browser() -> bool:
    """Whether a browser would be seen: one is named by BROWSER, or there is a display."""
    if os.environ.get("BROWSER") or sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _opened(url: str) -> bool:
    """Open a browser, in a thread: a program that BROWSER names may run until it is closed."""
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    return True


def _listening(port: int, browser: Browser) -> http.server.ThreadingHTTPServer:
    handler = type("_Handler", (_Handler,), {"browser": browser})
    try:
        server = http.server.ThreadingHTTPServer((REDIRECT_HOSTS[0], port), handler)
    except OSError as error:
        failed = StorageError("listen on", f"{REDIRECT_HOSTS[0]}:{port}", error)
        failed.hint = "another program uses that port: stop it, or choose another with --port"
        raise failed from error
    server.daemon_threads = True
    return server


def _first(url: str, name: str) -> str:
    return urllib.parse.parse_qs(urllib.parse.urlsplit(url).query).get(name, [""])[0]
