"""`vespe demo`: the main job in a fresh temporary project, each command printed before its real
output.
"""

import contextlib
import os
import shlex
import signal
import sys
import tempfile
from typing import Any, Final

import click

from vespe import errors
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.files import atomic
from vespe.processes import process
from vespe.processes.signals import interruptible, uninterruptible

_WIDTH: Final = 80
_FILE: Final = "calc.py"
_FUNCTION: Final = '''\
from typing import Literal

def calc(a: float, b: float, op: Literal["add", "mul"] = "add") -> float:
    """Calculate with two numbers."""
    return a + b if op == "add" else a * b
'''
_PROMPT: Final = "'How many pears do I need? It is in notes.txt.'"

STEPS: Final[tuple[tuple[str, str, int], ...]] = (
    ("Make a project. You made it, so it is trusted.", "init", 0),
    (
        "Here is an ordinary function. Its signature and docstring become the tool's schema.",
        "tool create calc --from calc.py:calc --read-only",
        0,
    ),
    ("Run it. The schema says that a and b are numbers.", "tool run calc a=6 b=7 op=mul", 0),
    (
        "A wrong call never reaches your code. The message tells a model what to do instead.",
        "tool run calc a=6 b=7 op=times",
        5,
    ),
    ("Add the tools of a kit, which projects share.", "kit activate file_io_without_git", 0),
    (
        "These are the tools that a model sees now. "
        "Those with a ! need your approval for each call.",
        "tool list",
        0,
    ),
    (
        "A model uses them. This one is scripted and needs no key; the checks and the tools are "
        "real. It makes a mistake and corrects it. It is not allowed to write a file, because "
        "there is no one here to approve the call.",
        f"agent run {_PROMPT} --provider simulated --script script.json --record talk.json",
        0,
    ),
    (
        "The same conversation again, as a test in CI: nothing is sent, and no tool runs.",
        f"agent run {_PROMPT} --replay talk.json",
        0,
    ),
)
"""What is said, the command, and the exit code that it must have."""

SCRIPT: Final = {
    "turns": [
        {
            "match": {"contains": "pears", "tools": ["calc", "read_file", "write_file"]},
            "tool_calls": [{"name": "read_file", "arguments": {"path": "notes.txt"}}],
        },
        {
            "match": {"role": "tool", "contains": "6 boxes"},
            "tool_calls": [{"name": "calc", "arguments": {"a": 6, "b": 7, "op": "times"}}],
        },
        {
            "match": {"role": "tool", "contains": "op"},
            "tool_calls": [
                {"name": "calc", "arguments": {"a": 6, "b": 7, "op": "mul"}},
                {"name": "write_file", "arguments": {"path": "notes.txt", "content": "42 pears"}},
            ],
        },
        {
            "match": {"role": "tool"},
            "text": "You need 42 pears: 6 boxes of 7. I was not allowed to change your notes.",
        },
    ]
}
"""What the demo's model answers; `--provider openai`, `anthropic` or `ollama` asks a real one."""

_FILES: Final = {
    _FILE: _FUNCTION,
    "notes.txt": "Buy 6 boxes of 7 pears.\n",
    "script.json": strict_json.dump_json(SCRIPT),
}


@click.command("demo", epilog="Example: vespe demo --fast")
@click.option("--fast", is_flag=True, help="Do not wait for Enter between the steps.")
def command(fast: bool) -> int:
    """Watch Vespe work: a function becomes a tool, an invalid call is refused, and a model uses the
    tools.

    The demo uses a temporary directory as project and home, and removes it afterwards. On a
    terminal, each step waits for Enter.
    """
    with tempfile.TemporaryDirectory(prefix="vespe-demo-") as scratch:
        project = os.path.join(scratch, "project")
        os.mkdir(project)
        for name, text in _FILES.items():
            atomic.write_atomic(os.path.join(project, name), text, durable=False)
        for number, (said, line, expected) in enumerate(STEPS, start=1):
            _say(
                click.wrap_text(
                    f"{number}/{len(STEPS)}  {said}", width=_WIDTH, subsequent_indent="     "
                ),
                bold=True,
            )
            if f"{_FILE}:" in line:
                _say(f"\n{_FUNCTION}", dim=True)
            _say(f"$ vespe {line}", fg="cyan")
            _wait(fast)
            _run(line, expected, home=scratch)
    report.say(
        "`vespe inspect` shows any project in your browser: its tools, which run and why, and the "
        "outcome of each call"
    )
    report.say(
        "now try it yourself: `vespe init` in a directory of your own, then `vespe connect "
        "claude-code` or another client"
    )
    return 0


def _say(text: str, **style: Any) -> None:
    click.echo(click.style(text, **style) if report.is_coloured(sys.stdout) else text)


def _wait(fast: bool) -> None:
    if options.interactive() and sys.stdout.isatty() and not fast:
        click.echo("  (Enter runs it, Ctrl-C ends the demo) ", nl=False, err=True)
        sys.stdin.readline()


def _ended(program: str, argv: list[str], environment: dict[str, str]) -> int:
    """Run a program to its end, which an interruption brings about, and return its exit code."""
    with uninterruptible():
        pid = os.posix_spawn(program, argv, environment)
        try:
            with interruptible():
                _, status = os.waitpid(pid, 0)
        except KeyboardInterrupt:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGTERM)
                os.waitpid(pid, 0)
            raise
    return os.waitstatus_to_exitcode(status)


def _run(line: str, expected: int, *, home: str) -> None:
    """Run a command where its output goes to this terminal as it comes, in order, and nobody is
    asked.
    """
    places = {
        f"XDG_{name}_HOME": os.path.join(home, name.lower())
        for name in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    environment = process.child_environment(os.environ, places | {"HOME": home})
    environment |= {
        name: os.environ[name] for name in ("NO_COLOR", "COLUMNS") if name in os.environ
    }
    inner = 'cd "$1" && shift && exec "$@" </dev/null 2>&1'
    argv = [
        "sh",
        "-c",
        inner,
        "sh",
        os.path.join(home, "project"),
        sys.executable,
        "-P",
        "-m",
        "vespe",
        *shlex.split(line),
    ]
    sys.stdout.flush()
    code = _ended("/bin/sh", argv, environment)
    click.echo("")
    if code != expected:
        raise errors.ToolExecutionError(
            f"`vespe {line}` ended with {code}, not {expected}",
            hint="run `vespe doctor` to find the cause",
        )
