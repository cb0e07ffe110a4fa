"""Results of examples as JUnit XML, which CI services read; pure."""

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from vespe.documents.escaping import inert
from vespe.features.examples.examples import ExampleResult


class Case(NamedTuple):
    """One test case: its class and name, its seconds, and why it failed (None: it passed)."""

    classname: str
    name: str
    seconds: float
    failure: str | None


def cases(results: Sequence[ExampleResult]) -> list[Case]:
    """Return a test case for each result."""
    return [
        Case(
            f"{result.scope}.{result.tool}",
            result.pointer or "config.json",
            result.duration_ms / 1000,
            result.why if result.problem else None,
        )
        for result in results
    ]


def junit_xml(suite: str, cases: Sequence[Case]) -> str:
    """Return a document with one suite; characters that XML cannot say, and misleading ones, are
    shown as escapes.
    """
    failed = sum(case.failure is not None for case in cases)
    seconds = sum(case.seconds for case in cases)
    counts = f'tests="{len(cases)}" failures="{failed}" errors="0" time="{seconds:.3f}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        # The outermost element has no such attribute in the schemas of JUnit's readers.
        f'  <testsuite name={_quoted(suite)} {counts} skipped="0">',
    ]
    for case in cases:
        start = (
            f"    <testcase classname={_quoted(case.classname)} name={_quoted(case.name)} "
            f'time="{case.seconds:.3f}"'
        )
        lines.append(f"{start}/>" if case.failure is None else f"{start}>")
        if case.failure is not None:
            lines += [f"      <failure message={_quoted(case.failure)}/>", "    </testcase>"]
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""])


def _quoted(text: str) -> str:
    sayable = "".join(
        char if char not in "\ufffe\uffff" else f"\\u{ord(char):04x}" for char in inert(text)
    )
    return quoteattr(sayable, {"\n": "&#10;", "\t": "&#9;"})
