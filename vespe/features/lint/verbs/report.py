"""Findings for a reader: lines of text, one JSON document, SARIF, or GitHub's annotations."""

import itertools
import sys
from collections.abc import Collection, Sequence
from typing import Final

import click

from vespe.cli import report
from vespe.cli.wrapping import wrap
from vespe.features.lint.base import AnyRule
from vespe.features.lint.findings import Finding
from vespe.features.lint.sarif import sarif
from vespe.models import JsonObject

FORMATS: Final = ("text", "json", "sarif", "github")
_AT_ONCE: Final = 500
_COLOURS: Final = {"error": "red", "warning": "yellow", "info": "cyan"}
_COMMANDS: Final = {"error": "error", "warning": "warning", "info": "notice"}


def summary(findings: Sequence[Finding], tools: int) -> JsonObject:
    """Count what was found: errors, warnings, and the definitions that were judged."""
    errors = sum(finding.severity == "error" for finding in findings)
    return {
        "errors": errors,
        "warnings": sum(finding.severity == "warning" for finding in findings),
        "tools": tools,
    }


def document(findings: Sequence[Finding], tools: int) -> JsonObject:
    """Return the document that scripts read."""
    return {
        "findings": [finding.to_json() for finding in findings],
        "summary": summary(findings, tools),
    }


def show_text(findings: Sequence[Finding], tools: int) -> None:
    """Print a line a finding, the file and line first, and count them on stderr; on a terminal
    beneath each file, with colours.
    """
    if sys.stdout.isatty():
        _show_grouped(findings)
    else:
        _show_lines(findings)
    counted = summary(findings, tools)
    infos = len(findings) - counted["errors"] - counted["warnings"]
    parts = [
        _count(counted["errors"], "error"),
        _count(counted["warnings"], "warning"),
        *([_count(infos, "info")] if infos else []),
    ]
    report.say(f"{', '.join(parts)} in {_count(tools, 'tool')}")


def _show_lines(findings: Sequence[Finding]) -> None:
    """Print many lines at a time: one by one each is a system call, most of the time of a long
    list.
    """
    for start in range(0, len(findings), _AT_ONCE):
        lines = []
        for finding in findings[start : start + _AT_ONCE]:
            lines.append(
                f"{_place(finding)}: {finding.severity} {finding.rule}: "
                f"{_about(finding)}{report.one_line(finding.message)}"
            )
            if finding.fix:
                lines.append(f"    fix: {report.one_line(finding.fix)}")
        report.emit("\n".join(lines))


def _show_grouped(findings: Sequence[Finding]) -> None:
    """Print the findings of each file beneath its path; what mends several alike is said once in a
    file.
    """
    for (path, tool), group in itertools.groupby(
        findings, key=lambda finding: (finding.path, finding.tool)
    ):
        heading = click.style(report.one_line(path), bold=True) + (
            f"  {report.one_line(tool)}" if tool else ""
        )
        report.emit_styled(heading)
        mended = set[str]()
        for finding in group:
            severity = click.style(f"{finding.severity:<7}", fg=_COLOURS[finding.severity])
            at = f"{finding.line}:{finding.column}"
            place = click.style(f"{at:>7}", dim=True)
            told = (
                f"{place}  {severity}  {report.one_line(finding.message)}  "
                f"{click.style(finding.rule, dim=True)}"
            )
            report.emit_styled(wrap(told, sys.stdout, hanging=11 + len(at)))
            if finding.fix and finding.fix not in mended:
                mended.add(finding.fix)
                fix = f"{'':18}{click.style('fix:', fg='green')} {report.one_line(finding.fix)}"
                report.emit_styled(wrap(fix, sys.stdout, hanging=5))
        report.emit_styled("")


def show_sarif(findings: Sequence[Finding], rules: Collection[AnyRule]) -> None:
    """Print one SARIF log."""
    report.emit_json(sarif(findings, rules))


def show_github(findings: Sequence[Finding]) -> None:
    """Print a workflow command a finding, which GitHub shows beside the line."""
    for finding in findings:
        place = {
            "file": finding.path,
            "line": str(finding.line),
            "col": str(finding.column),
            "title": f"vespe {finding.rule}",
        }
        properties = ",".join(f"{key}={_property(value)}" for key, value in place.items())
        text = f"{_about(finding)}{finding.message}" + (f"\n{finding.fix}" if finding.fix else "")
        report.emit(f"::{_COMMANDS[finding.severity]} {properties}::{_data(text)}")


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
