"""The web interface of the MCP Inspector in a real browser: it shows the question before a call and
the question of a tool, and reads a linked result.

    python -m tests.acceptance.inspector_web [--json]

It needs `./dev servers`, which installs the Inspector, and Chromium. What the tools did is read
from their files.
"""

import argparse
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.support.browser import Page, chromium
from tests.support.ondisk import PATIENCE_S, python_tool
from vespe.projects import user_config
from vespe.projects.init import found_project

MODULES: Final = Path(sys.prefix) / "node/node_modules"
INSPECTOR: Final = MODULES / "@modelcontextprotocol/inspector"
_HOMES: Final = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
_LINES: Final = 40_000
_TEXT: Final = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_SAVE: Final = 'open("saved.txt", "w").write(inputs["text"])\nreturn "saved"'
_ORDER: Final = """import vespe_ask
cups = {"type": "integer", "minimum": 1, "maximum": 9}
form = {"type": "object", "properties": {"cups": cups}, "required": ["cups"]}
said = vespe_ask.ask("How many cups?", form)["cups"]
open("ordered.txt", "w").write(str(said))
return "ordered"
"""
_SEEN: Final = "[...document.querySelectorAll({0})].filter((e) => e.offsetParent !== null)"
_BUTTON: Final = (
    _SEEN.format("'button, label, input'")
    + ".filter((e) => e.innerText.trim() === {0} || e.getAttribute('aria-label') === {0}).pop()"
)
_FIELD: Final = (
    "document.getElementById("
    + _SEEN.format("'label'")
    + ".filter((e) => e.innerText.replace('*', '').trim() === {0}).pop()?.htmlFor)"
)


def make_project(root: Path) -> None:
    """Make a project with a tool whose result is large, one whose calls are asked about, and one
    that asks.
    """
    found_project(root)
    tools, reads = root / ".vespe/tools", {"readOnlyHint": True}
    body = f'return "".join(f"line {{n}} of the report\\n" for n in range({_LINES}))'
    python_tool(tools / "tool-large", "large", body, annotations=reads)
    python_tool(tools / "tool-save", "save", _SAVE, schema=_TEXT)
    python_tool(tools / "tool-order", "order", _ORDER)
    user_config.set_value("approvals.ask", ["save"])


@contextlib.contextmanager
def inspecting(root: Path) -> Iterator[str]:
    """Start the web interface with the server of a project, and give its address."""
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        ports = [str(each.getsockname()[1]) for each in (one, two)]
    launcher = INSPECTOR / "clients/launcher/build/index.js"
    server = [str(Path(sys.prefix, "bin/vespe")), "mcp", "serve"]
    given = [
        word for name in (*_HOMES, "PYTHONPATH") for word in ("-e", f"{name}={os.environ[name]}")
    ]
    process = subprocess.Popen(
        [str(MODULES / ".bin/node"), str(launcher), "--web", *given, "--", *server],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env=os.environ
        | {
            "CLIENT_PORT": ports[0],
            "MCP_SANDBOX_PORT": ports[1],
            "MCP_AUTO_OPEN_ENABLED": "false",
            "MCP_INSPECTOR_SECRET_STORE": "memory",
        },
    )
    assert process.stdout is not None
    try:
        said = ""
        while not (
            found := re.search(r"http://127\.0\.0\.1:\d+\?MCP_INSPECTOR_API_TOKEN=\w+", said)
        ):
            line = process.stdout.readline()
            assert line, said
            said += line
        yield found[0]
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        process.stdout.close()


class Person:
    """Somebody who uses the interface."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def click(self, text: str) -> None:
        """Click the button with a text, once it is there."""
        one = _BUTTON.format(json.dumps(text))
        self.page.wait(one)
        self.page.run(f"{one}.click(); 0")

    def fill(self, label: str, text: str) -> None:
        """Type a text into the field with a label."""
        one = _FIELD.format(json.dumps(label))
        self.page.wait(one)
        self.page.run(f"{one}.focus(); 0")
        self.page.type(text)

    def call(self, tool: str, **arguments: str) -> None:
        """Call a tool."""
        self.click(tool)
        for name, text in arguments.items():
            self.fill(name, text)
        self.click("Execute Tool")

    def sees(self, text: str) -> None:
        """Wait until the page shows a text."""
        self.page.wait(f"document.body.innerText.includes({json.dumps(text)})")


def used(person: Person, url: str, root: Path) -> dict[str, Any]:
    """Go through all of it, and return what was seen and what the tools did."""
    person.page.open(url)
    person.click('Connect or disconnect "vespe"')
    person.click("Tools")
    found: dict[str, Any] = {}

    person.call("large")
    person.sees("its handle is r1")
    person.click("Expand resource vespe://results/r1")
    person.sees('"uri": "vespe://results/r1"')
    found["linked_result_read"] = True

    person.call("save", text="hello")
    person.sees("`save` would run")
    found["saved_before_the_answer"] = (root / "saved.txt").exists()
    person.click("Decline")
    person.sees("the user has denied this call of 'save'")
    found["saved_after_a_no"] = (root / "saved.txt").exists()
    person.click("order")
    person.call("save", text="hello")
    person.click("Allow this call")
    person.click("Submit")
    person.sees("Results\nsaved")
    found["saved_after_a_yes"] = (root / "saved.txt").read_text(encoding="utf-8")

    person.call("order")
    person.sees("How many cups?")
    person.fill("cups", "3")
    person.click("Submit")
    person.sees("Results\nordered")
    found["ordered"] = (root / "ordered.txt").read_text(encoding="utf-8")
    return found


EXPECTED: Final = {
    "linked_result_read": True,
    "saved_before_the_answer": False,
    "saved_after_a_no": False,
    "saved_after_a_yes": "hello",
    "ordered": "3",
}


def main() -> int:
    """Print what was found, and return 1 where it is not what it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print data")
    asked = parser.parse_args()
    package = json.loads((INSPECTOR / "package.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {name: str(Path(home, name)) for name in _HOMES}
        os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
        root = Path(home, "project")
        root.mkdir()
        make_project(root)
        with inspecting(root) as url, chromium() as browser, browser.page() as page:
            found = used(Person(page), url, root)
    document = {"inspector": package["version"], **found}
    sys.stdout.write(json.dumps(document, indent=None if asked.json else 1) + "\n")
    return 0 if found == EXPECTED else 1


if __name__ == "__main__":
    raise SystemExit(main())
