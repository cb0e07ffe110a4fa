"""Findings for a reader."""

import pytest

from tests.support.terminal import on_a_terminal, plain
from vespe.features.lint.findings import Finding
from vespe.features.lint.verbs import report as lint_report

FINDING = Finding(
    rule="a-b", severity="info", message="50% off\nnow", path="x,y:z", tool="t", fix="do: it"
)


def test_a_document_counts_errors_and_warnings() -> None:
    findings = [
        FINDING,
        *(
            Finding(rule="r", severity=level, message="m", path="p")
            for level in ("error", "warning", "error")
        ),
    ]
    assert lint_report.document(findings, 7)["summary"] == {"errors": 2, "warnings": 1, "tools": 7}


def test_github_has_its_own_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    lint_report.show_github([FINDING])
    assert (
        capsys.readouterr().out
        == "::notice file=x%2Cy%3Az,line=1,col=1,title=vespe a-b::t: 50%25 off%0Anow%0Ado: it\n"
    )


def test_text_keeps_a_finding_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    lint_report.show_text([FINDING], 1)
    said = capsys.readouterr()
    assert said.out == "x,y:z:1:1: info a-b: t: 50% off\\nnow\n    fix: do: it\n"
    assert said.err == "0 errors, 0 warnings, 1 info in 1 tool\n"


def test_on_a_terminal_findings_stand_beneath_their_file_and_a_fix_is_said_once() -> None:
    code = (
        "from vespe.features.lint.verbs import report as lint_report; from vespe.features.lint.findings import Finding\n"
        "found = [Finding(path='p/config.json', line=n, rule='a-b', severity='warning', tool='t', "
        "message='off \\x1b', fix='mend'"
        ") for n in (1, 2)]\n"
        "lint_report.show_text(found, 1)"
    )
    shown = on_a_terminal(code, NO_COLOR="")
    assert plain(shown).split("\n")[:4] == [
        "p/config.json  t",
        "    1:1  warning  off \\x1b  a-b",
        "                  fix: mend",
        "    2:1  warning  off \\x1b  a-b",
    ]
    assert "\x1b[33mwarning" in shown and "\x1b" not in on_a_terminal(code, NO_COLOR="1")
