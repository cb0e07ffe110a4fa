"""Findings as SARIF 2.1.0 (OASIS Standard, 2020), which code scanning services show."""

import hashlib
import os
from collections.abc import Collection, Iterable
from typing import Any, Final
from urllib.parse import quote

from vespe import defaults
from vespe.features.lint.base import AnyRule
from vespe.features.lint.findings import Finding
from vespe.models import JsonObject

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}


def sarif(findings: Iterable[Finding], rules: Collection[AnyRule]) -> JsonObject:
    """Return one SARIF log with one run: the rules that were asked, and a result a finding."""
    indexes = {rule.code: index for index, rule in enumerate(rules)}
    driver = {
        "name": "vespe",
        "version": defaults.VERSION,
        "semanticVersion": defaults.VERSION,
        "rules": [_rule(rule) for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, indexes) for finding in findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: AnyRule) -> JsonObject:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.code.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.rationale},
        "help": {"text": f"{rule.rationale}\n\nBad: {rule.bad}\n\nGood: {rule.good}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": [rule.family, *sorted(rule.targets)]},
    }


def _result(finding: Finding, indexes: dict[str, int]) -> JsonObject:
    text = f"{finding.message}; {finding.fix}" if finding.fix else finding.message
    logical: list[dict[str, Any]] = (
        [{"name": finding.tool, "kind": "function"}] if finding.tool else []
    )
    logical += [{"fullyQualifiedName": finding.pointer, "kind": "value"}] if finding.pointer else []
    location: JsonObject = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(finding.path)},
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }
    }
    if logical:
        location["logicalLocations"] = logical
    result: JsonObject = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": text[:1].upper() + text[1:]},
        "locations": [location],
        "partialFingerprints": {"vespe/v1": _fingerprint(finding)},
    }
    return result | ({"ruleIndex": indexes[finding.rule]} if finding.rule in indexes else {})


def _uri(path: str) -> str:
    """Return a path as a reference relative to where lint ran, or as a file: URI where it is
    elsewhere.
    """
    return ("file://" if os.path.isabs(path) else "") + quote(path, safe="/")


def _fingerprint(finding: Finding) -> str:
    """What a finding is recognised by when its line moves: the rule, the file and the place in
    it.
    """
    return hashlib.sha256(
        "\0".join((finding.rule, finding.path, finding.pointer, finding.message)).encode()
    ).hexdigest()[:32]
