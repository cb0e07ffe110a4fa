"""Findings for a reader: lines of text, one JSON document, SARIF, or GitHub's annotations."""

import contextlib
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from vespe.cli import report
from vespe.lint.base import AnyRule
from vespe.lint.findings import Finding
from vespe.lint.sarif import sarif
from vespe.models import JsonObject

FORMATS: Final = ("text", "json", "sarif", "github")
_COMMANDS: Final = {"error": "error", "warning": "warning", "info": "notice"}


def summary(findings: Sequence[Finding], tools: int) -> JsonObject:
    """Count what was found: errors, warnings, and the definitions that were judged."""
    errors = sum(finding.severity == "error" for finding in findings)
    return {"errors": errors, "warnings": sum(finding.severity == "warning" for finding in findings), "tools": tools}


def document(findings: Sequence[Finding], tools: int) -> JsonObject:
    """Return the document that scripts read."""
    return {"findings": [finding.to_json() for finding in findings], "summary": summary(findings, tools)}


def show_text(findings: Sequence[Finding], tools: int) -> None:
    """Print a line a finding, the file and line first, and count them on stderr."""
    for finding in findings:
        report.emit(f"{_place(finding)}: {finding.severity} {finding.rule}: {_about(finding)}{report.one_line(finding.message)}")
        if finding.fix:
            report.emit(f"    fix: {report.one_line(finding.fix)}")
    counted = summary(findings, tools)
    infos = len(findings) - counted["errors"] - counted["warnings"]
    parts = [_count(counted["errors"], "error"), _count(counted["warnings"], "warning"), *([_count(infos, "remark")] if infos else [])]
    report.say(f"{', '.join(parts)} in {_count(tools, 'tool')}")


def show_sarif(findings: Sequence[Finding], rules: Collection[AnyRule]) -> None:
    """Print one SARIF log."""
    report.emit_json(sarif(findings, rules))


def show_github(findings: Sequence[Finding]) -> None:
    """Print a workflow command a finding, which GitHub shows beside the line."""
    for finding in findings:
        place = {"file": finding.path, "line": str(finding.line), "col": str(finding.column), "title": f"vespe {finding.rule}"}
        properties = ",".join(f"{key}={_property(value)}" for key, value in place.items())
        text = f"{_about(finding)}{finding.message}" + (f"\n{finding.fix}" if finding.fix else "")
        report.emit(f"::{_COMMANDS[finding.severity]} {properties}::{_data(text)}")


@contextlib.contextmanager
def progress() -> Iterator[Callable[[int], None] | None]:
    """Return what shows the number of tools so far, ten times a second, where stderr is a terminal; the line is cleared at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    last = time.monotonic()

    def show(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= 0.1:
            last = time.monotonic()
            sys.stderr.write(f"\r{done} tools…\x1b[K")
            sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _place(finding: Finding) -> str:
    return f"{report.one_line(finding.path)}:{finding.line}:{finding.column}"


def _about(finding: Finding) -> str:
    return f"{report.one_line(finding.tool)}: " if finding.tool else ""


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
