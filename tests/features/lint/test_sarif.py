"""Findings as SARIF 2.1.0, judged by an independent model of the standard and by what code scanning
asks for.
"""

import json
from dataclasses import replace
from typing import Any

import sarif_pydantic  # type: ignore[import-untyped]  # it has no types of its own

from vespe.features.lint import RULES
from vespe.features.lint.findings import Finding
from vespe.features.lint.sarif import sarif

FINDING = Finding(
    rule="schema-root",
    severity="error",
    message="the root is wrong",
    path="a dir/ü.json",
    pointer="/a/b",
    line=3,
    column=7,
    tool="x",
    fix="mend it",
)


def log(*findings: Finding) -> dict[str, Any]:
    """The log of some findings, judged by the model, with nothing in it that the model does not
    know.
    """
    made = sarif(findings, list(RULES.values()))
    modelled = sarif_pydantic.Sarif.model_validate_json(json.dumps(made))
    known = modelled.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert missing(made, known, "") == []
    return made


def missing(made: Any, known: Any, at: str) -> list[str]:
    """Name what stands in one document and not in the other."""
    if isinstance(made, dict):
        return [
            one
            for key, value in made.items()
            for one in (
                missing(value, known[key], f"{at}/{key}") if key in known else [f"{at}/{key}"]
            )
        ]
    if isinstance(made, list):
        return [
            one
            for index, value in enumerate(made)
            for one in missing(value, known[index], f"{at}/{index}")
        ]
    return [] if made == known or str(made) == str(known) else [at]


def test_a_finding_is_a_result_at_its_place() -> None:
    [run] = log(FINDING)["runs"]
    [result] = run["results"]
    assert (
        run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
        == result["ruleId"]
        == "schema-root"
    )
    place = result["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "a%20dir/%C3%BC.json"},
        "region": {"startLine": 3, "startColumn": 7},
    }
    assert result["message"]["text"] == "The root is wrong; mend it"


def test_a_file_elsewhere_has_a_uri_that_says_so() -> None:
    [run] = log(replace(FINDING, path="/tmp/a dir/x.json"))["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "file:///tmp/a%20dir/x.json"}


def test_severities_are_levels() -> None:
    findings = [
        Finding(rule="schema-root", severity=level, message="m", path="p")
        for level in ("error", "warning", "info")
    ]
    assert [result["level"] for result in log(*findings)["runs"][0]["results"]] == [
        "error",
        "warning",
        "note",
    ]


def test_a_finding_is_recognised_when_its_line_moves() -> None:
    moved = Finding(**{name: getattr(FINDING, name) for name in Finding.__slots__} | {"line": 30})
    first, second = log(FINDING, moved)["runs"][0]["results"]
    assert first["partialFingerprints"] == second["partialFingerprints"]
    other = Finding(
        **{name: getattr(FINDING, name) for name in Finding.__slots__} | {"pointer": "/c"}
    )
    assert (
        log(other)["runs"][0]["results"][0]["partialFingerprints"] != first["partialFingerprints"]
    )


def test_every_rule_is_told_with_its_texts_and_no_finding_is_a_log_too() -> None:
    made = log()
    assert made["version"] == "2.1.0" and made["runs"][0]["results"] == []
    rules = made["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in rules)
