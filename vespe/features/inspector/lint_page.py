"""What lint finds in the project, with the reason for each rule."""

import os
from collections import Counter
from typing import Any, Final

from vespe.features.inspector.page import Page, Visit
from vespe.features.lint import RULES, audit
from vespe.features.lint.findings import Finding
from vespe.features.lint.settings import Settings
from vespe.models import SEVERITIES

MOST: Final = 300
"""Findings on one page."""
_AT_ONCE: Final = 500
"""Definitions that are judged without being asked to: more take seconds."""


def show(visit: Visit) -> Page:
    """Return the findings, the gravest first; nothing that is linted is imported or run."""
    own = sum(row.status != "inactive" for row in visit.project.rows())
    context: dict[str, Any] = {"waits": own > _AT_ONCE and not visit.asked("go"), "own": own}
    if context["waits"]:
        return Page(template="lint.html", title="Lint", context=context)
    run = audit.Audit(Settings(), keeps=True)
    every = sorted(run.findings([visit.project.root]), key=_order)
    severity, rule, tool = (
        visit.asked("severity", SEVERITIES),
        visit.asked("rule", tuple(RULES)),
        visit.asked("tool"),
    )
    meant = [
        finding for finding in every if rule in ("", finding.rule) and tool in ("", finding.tool)
    ]
    chosen = [finding for finding in meant if severity in ("", finding.severity)]
    counts = Counter(finding.severity for finding in meant)
    context |= {
        "findings": [
            (finding, RULES.get(finding.rule), _place(finding, visit.project.root))
            for finding in chosen[:MOST]
        ],
        "found": len(chosen),
        "judged": run.tools,
        "counts": {name: counts[name] for name in SEVERITIES},
        "rules": Counter(finding.rule for finding in every).most_common(),
        "severity": severity,
        "rule": rule,
        "tool": tool,
        "go": visit.asked("go"),
    }
    return Page(template="lint.html", title="Lint", context=context)


def _order(finding: Finding) -> tuple[int, str, int, int, str]:
    return (
        SEVERITIES.index(finding.severity),
        finding.path,
        finding.line,
        finding.column,
        finding.rule,
    )


def _place(finding: Finding, root: str) -> str:
    path = os.path.relpath(os.path.abspath(finding.path), root)
    return f"{path}:{finding.line}" if finding.line > 1 or finding.pointer else path
