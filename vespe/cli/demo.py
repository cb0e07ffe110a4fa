"""`vespe demo`: the main job in a fresh temporary project, each command printed before its real output."""

import http.server
import os
import shlex
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from vespe import errors
from vespe.cli import report
from vespe.documents import strict_json
from vespe.files import atomic
from vespe.processes import process

_CITY_SCHEMA: Final = '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}'
_PATH_SCHEMA: Final = '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'

_PROMPT: Final = "'How is the weather in Lucca, and what does my note say?'"

STEPS: Final[tuple[tuple[str, str, int], ...]] = (
    ("Make a project. It is yours, so it is trusted.", "init", 0),
    ("Share a kit's tools with it.", "kit activate file_io_without_git", 0),
    ("Make a tool of your own, in Python, that runs at once.", "tool create greet --type python_script", 0),
    ("A shell tool: one template is one argument, and no shell ever sees it.", "tool create count_words --type shell_command"
     " --entrypoint wc --args '{\"argv\":[\"-w\",\"--\",\"{path}\"]}'" f" --schema '{_PATH_SCHEMA}'", 0),
    ("An HTTP tool: the origin is fixed, a value fills one encoded slot.", "tool create weather --type http_request"
     f" --path http://ORIGIN/weather/{{city}} --schema '{_CITY_SCHEMA}'", 0),
    ("What a model would see.", "tool list", 0),
    ("Which code a name means, and why.", "tool resolve write_file", 0),
    ("Run a kit's tool.", "tool run write_file path=hello.txt 'content=Hello from a tool'", 0),
    ("Run the Python tool.", "tool run greet", 0),
    ("Run the shell tool.", "tool run count_words path=hello.txt", 0),
    ("An HTTP tool reaches no private address, until you yourself allow it.", "tool run weather city=Lucca", 6),
    ("Allow it, in your own configuration.", "config set allow_hosts '[\"ORIGIN\"]'", 0),
    ("Run the HTTP tool.", "tool run weather city=Lucca", 0),
    ("A bad call is refused in words that a model can act on.", "tool run write_file path=hello.txt mode=append", 5),
    ("The same tool, as Anthropic's API wants it.", "tool show write_file --as anthropic", 0),
    ("Lint, as CI would: what an API would refuse, or a model misread.", "lint", 0),
    ("A model may use the weather tool without asking you; other tools that are not read-only are asked for.",
     "config set approvals.allow '[\"weather\"]'", 0),
    ("A model uses the tools. This one is scripted and needs no key; the loop, its checks and the tools are real. It makes a mistake"
     " and mends it, and it may not count words: nobody is there to be asked.",
     f"agent run {_PROMPT} --provider simulated --script script.json --record talk.json", 0),
    ("The same conversation again, as a test in CI: nothing is sent, and no tool runs.", f"agent run {_PROMPT} --replay talk.json", 0),
    ("What ran.", "log -n 12", 0),
)  # fmt: skip
"""What is said, the command, and the exit code that it must have."""


SCRIPT: Final = {
    "turns": [
        {"match": {"contains": "Lucca", "tools": ["weather", "count_words"]},
         "text": "I look at the weather and at your note.",
         "tool_calls": [{"name": "weather", "arguments": {"town": "Lucca"}}, {"name": "read_file", "arguments": {"path": "hello.txt"}}]},
        {"match": {"role": "tool", "contains": "Hello from a tool"},
         "tool_calls": [{"name": "weather", "arguments": {"city": "Lucca"}},
                        {"name": "count_words", "arguments": {"path": "hello.txt"}}]},
        {"match": {"role": "tool"},
         "text": "It is clear in Lucca, at 21 degrees. Your note says: Hello from a tool. I was not allowed to count its words."},
    ]
}  # fmt: skip
"""What the demo's model answers: the real one would be asked by `--provider openai`, `anthropic` or `ollama`."""


class _Weather(http.server.BaseHTTPRequestHandler):
    """A loopback server that stands for a public API: GET /weather/CITY."""

    def do_GET(self) -> None:
        """Answer with a small JSON document."""
        body = b'{"path": "%s", "sky": "clear", "celsius": 21}' % self.path.encode("ascii", "replace")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal for the demo."""


@click.command("demo", epilog="Example: vespe demo")
def command() -> int:
    """Watch Vespe work: a fresh temporary project, a kit, tools in Python, shell and HTTP, a refused call, a model that uses them.

    Everything happens in a temporary directory with a home of its own, and is gone afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="vespe-demo-") as scratch, _weather() as origin:
        project = os.path.join(scratch, "project")
        os.mkdir(project)
        atomic.write_atomic(os.path.join(project, "script.json"), strict_json.dump_json(SCRIPT), durable=False)
        for number, (said, line, expected) in enumerate(STEPS, start=1):
            click.echo(click.style(f"# {number}. {said}", dim=True) if sys.stdout.isatty() else f"# {number}. {said}")
            _step(line.replace("ORIGIN", origin), expected, home=scratch)
    report.note("done: every step ended as it should. Next: `vespe init` in a directory of your own")
    return 0


@contextmanager
def _weather() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Weather)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _step(line: str, expected: int, *, home: str) -> None:
    click.echo(f"$ vespe {line}")
    places = {f"XDG_{name}_HOME": os.path.join(home, name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    environment = process.child_environment(os.environ, places | {"HOME": home, "NO_COLOR": "1"})
    argv = (sys.executable, "-P", "-m", "vespe", *shlex.split(line))
    done = process.run(process.Command(argv=argv, cwd=os.path.join(home, "project"), env=environment, timeout_s=60.0))
    for output in (done.stdout, done.stderr):
        if output:
            report.emit(output.decode("utf-8", "replace").rstrip("\n"))
    click.echo(f"(exit code {done.returncode})\n" if done.returncode else "")
    if done.returncode != expected:
        raise errors.ToolExecutionError(f"`vespe {line}` ended with {done.returncode}, not {expected}", hint="`vespe doctor` may say why")
