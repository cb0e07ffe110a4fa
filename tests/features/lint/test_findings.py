"""The value that lint gives."""

import json

from vespe.features.lint.findings import Finding
from vespe.models import SEVERITIES


def test_a_finding_is_plain_json_with_the_keys_that_scripts_read() -> None:
    finding = Finding(rule="schema-root", severity="error", message="m", path="p")
    assert json.loads(json.dumps(finding.to_json())) == {
        "rule": "schema-root",
        "severity": "error",
        "message": "m",
        "path": "p",
        "pointer": "",
        "line": 1,
        "column": 1,
        "tool": None,
        "fix": None,
    }


def test_the_gravest_severity_comes_first() -> None:
    assert SEVERITIES == ("error", "warning", "info")
