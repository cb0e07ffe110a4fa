"""What an agent does, shown as it happens: its words on stdout, everything else on stderr, all of
it inert.
"""

import sys
from collections.abc import Callable
from typing import Final

import click

from vespe.adapters.streams.base import StreamEvent
from vespe.cli import report
from vespe.cli.wrapping import wrap
from vespe.documents.escaping import inert
from vespe.features.agents.call_checks import Ready
from vespe.features.agents.verbs.markdown import Painter
from vespe.models import JsonObject, JsonValue

_LINE: Final = 160


class RunDisplay:
    """Shows a run; with `quiet` the model's words are left for the document that comes at the
    end. `why_missing` says why the model was not offered a tool of that name that it calls, ""
    where there is nothing to say.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.why_missing: Callable[[str], str] = lambda name: ""
        self._quiet = quiet
        self._midline = self._thinking = False
        self._painter = Painter()

    def event(self, event: StreamEvent) -> None:
        """Show one event: text as it comes, results in a line."""
        if event.type == "text" and event.text:
            self._text(event.text)
        elif event.type == "reasoning" and report.is_coloured(sys.stderr):
            self._thinking = True
            click.echo(click.style(inert(event.text), dim=True), err=True, nl=False, color=True)
        elif event.type == "tool_result":
            self._line(f"<- {_cut(event.name)} {_told(event.data or {})}")
            if _code(event.data or {}) == "tool_not_found" and (
                why := self.why_missing(event.name)
            ):
                self._line(f"   {why}")

    def started(self, ready: Ready) -> None:
        """Show that a call begins, with its inputs."""
        self._line(f"-> {report.one_line(ready.tool.name)} {_cut(report.json_line(ready.inputs))}")

    def end(self) -> None:
        """End the line that the model's words may have left open."""
        rest = self._painter.end()
        if self._midline:
            click.echo(rest, color=True)
        if self._thinking:
            click.echo("", err=True)
        self._midline = self._thinking = False

    def _text(self, text: str) -> None:
        if self._quiet:
            return
        if self._thinking:
            self.end()
        shown = (
            inert(text) if sys.stdout.isatty() else text.encode("utf-8", "replace").decode("utf-8")
        )
        click.echo(
            self._painter.paint(shown) if report.is_coloured(sys.stdout) else shown,
            nl=False,
            color=True,
        )
        sys.stdout.flush()
        self._midline = not text.endswith("\n")

    def _line(self, text: str) -> None:
        self.end()
        dim = report.is_coloured(sys.stderr)
        text = wrap(text, sys.stderr)
        click.echo(click.style(text, dim=True) if dim else text, err=True, color=dim)


def _told(data: JsonObject) -> str:
    outcome, content = data.get("outcome") or {}, report.one_line(_words(data.get("content", "")))
    if outcome.get("ok"):
        return f"ok, {data.get('timing', {}).get('duration_ms', 0):.0f} ms: {_cut(content)}"
    return f"{report.one_line(_code(data))}: {_cut(content)}"


def _code(data: JsonObject) -> str:
    outcome = data.get("outcome") or {}
    return str((outcome.get("error") or {}).get("code", "error"))


def _words(content: JsonValue) -> str:
    """Return what a result says, an image as a word."""
    if not isinstance(content, list):
        return str(content)
    return " ".join(str(part.get("text", "[image]")) for part in content if isinstance(part, dict))


def _cut(text: str) -> str:
    text = report.one_line(text)
    return text if len(text) <= _LINE else f"{text[:_LINE]}…"
