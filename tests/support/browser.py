"""A real Chromium without a window, driven over its debugging pipe: no port, no driver, no package.
Skips loudly where there is none.
"""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
PATIENCE_S = 30.0
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--hide-scrollbars",
    "--lang=en",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider",
    "--remote-debugging-pipe",
)
_PIPED = (
    "import os, sys; r, w = map(int, sys.argv[1:3]); os.dup2(r, 3); os.dup2(w, 4); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)
_KEYS = {
    "Enter": ("\r", 13),
    "Tab": ("\t", 9),
    "Escape": ("", 27),
    " ": (" ", 32),
    "ArrowDown": ("", 40),
}


class Browser:
    """One Chromium; `page` opens a page in a profile of its own, with cookies of its own."""

    def __init__(self, profile: str) -> None:
        ours, theirs = os.pipe(), os.pipe()
        os.set_inheritable(ours[0], True)
        os.set_inheritable(theirs[1], True)
        environment = {
            **os.environ,
            "HOME": profile,
            **{f"XDG_{n}_HOME": profile for n in ("CONFIG", "CACHE", "DATA", "STATE")},
        }
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _PIPED,
                str(ours[0]),
                str(theirs[1]),
                str(BROWSER),
                *_FLAGS,
                f"--user-data-dir={profile}/user",
            ],
            pass_fds=(ours[0], theirs[1]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._out, self._in = os.fdopen(ours[1], "wb", buffering=0), os.fdopen(theirs[0], "rb")
        self._number = 0
        self._events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Say a command of the protocol, and return its result; what happens meanwhile is kept as
        events.
        """
        self._number += 1
        message = {
            "id": self._number,
            "method": method,
            "params": params,
            **({"sessionId": session} if session else {}),
        }
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            told = self._read()
            if told.get("id") == self._number:
                if "error" in told:
                    raise AssertionError(f"{method}: {told['error']}")
                return dict(told["result"])
            self._events.append(told)

    def wait_for(self, method: str, session: str) -> dict[str, Any]:
        """Return the parameters of the next event of that name."""
        while True:
            for place, event in enumerate(self._events):
                if event.get("method") == method and event.get("sessionId") == session:
                    del self._events[: place + 1]
                    return dict(event["params"])
            self._events.append(self._read())

    def forget(self) -> None:
        """Forget what happened so far."""
        self._events.clear()

    def _read(self) -> dict[str, Any]:
        # a browser that says nothing more is ended, and the read with it
        timer = threading.Timer(PATIENCE_S, self.process.kill)
        timer.start()
        try:
            told = bytearray()
            while (byte := self._in.read(1)) not in (b"\0", b""):
                told += byte
            if not told:
                raise AssertionError("the browser is gone")
            return dict(json.loads(told))
        finally:
            timer.cancel()

    @contextlib.contextmanager
    def page(
        self, *, width: int = 1280, height: int = 900, dark: bool = False, script: bool = True
    ) -> "Iterator[Page]":
        """Open an empty page, with no cookie of any other."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        target = self.send("Target.createTarget", url="about:blank", browserContextId=context)[
            "targetId"
        ]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        page.send("Page.enable")
        page.send("Emulation.setFocusEmulationEnabled", enabled=True)
        page.size(width, height)
        page.dark(dark)
        if not script:
            page.send("Emulation.setScriptExecutionDisabled", value=True)
        try:
            yield page
        finally:
            self.send("Target.disposeBrowserContext", browserContextId=context)

    def close(self) -> None:
        """End the browser."""
        with contextlib.suppress(AssertionError, OSError):
            self.send("Browser.close")
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._out.close()
        self._in.close()


class Page:
    """One page of the browser."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Say a command of the protocol to this page."""
        return self._browser.send(method, self._session, **params)

    def size(self, width: int, height: int = 900) -> None:
        """Make the window so large, in pixels of CSS."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def dark(self, is_dark: bool) -> None:
        """Say which theme the person prefers, and that nothing is to move: what is looked at would
        be between two colours.
        """
        wanted = {
            "prefers-color-scheme": "dark" if is_dark else "light",
            "prefers-reduced-motion": "reduce",
        }
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        self.send("Emulation.setEmulatedMedia", features=features)

    def open(self, url: str) -> None:
        """Go to an address, and wait until the page is loaded."""
        self._browser.forget()
        told = self.send("Page.navigate", url=url)
        if "errorText" not in told:
            self._browser.wait_for("Page.loadEventFired", self._session)

    def run(self, script: str) -> Any:
        """Return the value of an expression, waited for where it is a promise."""
        told = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        for _ in range(int(PATIENCE_S * 20)):
            with contextlib.suppress(AssertionError):
                if self.run(f"Boolean({condition})"):
                    return
            self.run("new Promise((done) => setTimeout(done, 50))")
        raise AssertionError(f"never true: {condition}; the page says {self.text[:500]!r}")

    def leads(self, act: str) -> None:
        """Do what loads another page, and wait for that."""
        self._browser.forget()
        self.run(f"{act}; 0")
        self._browser.wait_for("Page.loadEventFired", self._session)

    def press(self, *keys: str) -> None:
        """Press keys, one after another: a name (`Tab`, `Enter`, `Shift+Tab`) or a character."""
        for key in keys:
            modifiers = 8 if key.startswith("Shift+") else 2 if key.startswith("Control+") else 0
            name = key.rpartition("+")[2] if len(key) > 1 else key
            text, code = _KEYS.get(name, (name, 0))
            named = {"key": name, "windowsVirtualKeyCode": code, "modifiers": modifiers}
            self.send(
                "Input.dispatchKeyEvent", type="keyDown", text="" if modifiers else text, **named
            )
            self.send("Input.dispatchKeyEvent", type="keyUp", **named)

    def click(self, wanted: str) -> None:
        """Click what leads to another page, as a mouse does."""
        self.run(f"document.querySelector({wanted!r}).scrollIntoView({{block: 'center'}}); 0")
        x, y = self.run(
            f"(({{x, y}}) => [x + 5, "
            f"y + 5])(document.querySelector({wanted!r}).getBoundingClientRect())"
        )
        self._browser.forget()
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self._browser.wait_for("Page.loadEventFired", self._session)

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self.send("Input.insertText", text=text)

    def leads_by_key(self, *keys: str) -> None:
        """Press keys of which the last loads another page."""
        self._browser.forget()
        self.press(*keys)
        self._browser.wait_for("Page.loadEventFired", self._session)

    @property
    def text(self) -> str:
        """The text that the page shows."""
        return str(self.run("document.body ? document.body.innerText : ''"))

    @property
    def url(self) -> str:
        """The address of the page."""
        return str(self.run("location.href"))

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a picture of the window, or of the `whole` page, as a PNG."""
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser, until the block ends; skips where there is none."""
    if BROWSER is None:
        pytest.skip(
            "NO CHROMIUM HERE: the inspector's pages are not seen by a browser "
            "(apt-get install chromium)"
        )
    with tempfile.TemporaryDirectory(
        prefix="vespe-chromium-", ignore_cleanup_errors=True
    ) as profile:
        browser = Browser(profile)
        try:
            yield browser
        finally:
            browser.close()
