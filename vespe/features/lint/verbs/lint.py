"""`vespe lint`: find what a model's API, a model, or Vespe would stumble over."""

import difflib
import gc
import os
from collections.abc import Collection, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from vespe import defaults, errors
from vespe.adapters.modes import MODES
from vespe.cli import report, tables
from vespe.cli.waiting import waiting
from vespe.features.lint import FAMILIES, RULES, audit, fixes
from vespe.features.lint import settings as lint_settings
from vespe.features.lint.findings import Finding
from vespe.features.lint.paths import PATHS_TAKEN
from vespe.features.lint.rules.flow import drawn
from vespe.features.lint.settings import Settings
from vespe.features.lint.verbs import report as lint_report
from vespe.files import unreviewed
from vespe.git import changed_paths
from vespe.models import SEVERITIES
from vespe.projects.workspace import find_root, open_workspace, project_entry

_BROKEN = 4


def _completed(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    return [CompletionItem(code) for code in RULES if code.startswith(begun)]


@click.command(
    "lint",
    short_help="Check tool definitions for problems.",
    epilog="Example: vespe lint --target openai,anthropic --format github",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(lint_report.FORMATS),
    default="text",
    show_default=True,
    help="How to print the findings.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="The same as --format json: print one JSON document to stdout.",
)
@click.option(
    "--select",
    shell_complete=_completed,
    multiple=True,
    metavar="RULE",
    help="Run only these rules: codes or families, separated by commas.",
)
@click.option(
    "--ignore",
    shell_complete=_completed,
    multiple=True,
    metavar="RULE",
    help="Skip these rules: codes or families, separated by commas.",
)
@click.option(
    "--severity",
    type=click.Choice(SEVERITIES),
    default="info",
    help="Report only findings of this severity or higher.",
)
@click.option(
    "--target",
    multiple=True,
    metavar="API",
    help=f"Check for these APIs: {', '.join(lint_settings.TARGETS)}; default: all.",
)
@click.option(
    "--tools-mode",
    type=click.Choice(MODES),
    default="auto",
    show_default=True,
    help="How tools are declared to models; the size of these declarations is checked.",
)
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option("--fix", is_flag=True, help="Apply the safe fixes of what is found, then lint again.")
@click.option("--changed", metavar="REV", help="Check only what changed since a git revision.")
@click.option(
    "--explain",
    shell_complete=_completed,
    metavar="RULE",
    help="Explain one rule, or list the rules of a family, and exit.",
)
def command(
    paths: tuple[str, ...], form: str, as_json: bool, explain: str | None, fix: bool, **asked: Any
) -> int:
    """Check tool definitions for problems.

    PATH is a project, a kit, a tool directory, the name of a tool, or a file of definitions for
    OpenAI, Anthropic, Gemini, Ollama or MCP (JSON, JSONL, YAML). The default is the current
    project. Lint imports and runs nothing. The exit code is 1 if there are errors.
    """
    if explain:
        return _explain(explain, [_place(word) for word in paths])
    # what is left off for commands that live for a moment: 10,000 tools make much that only it can
    # free
    gc.enable()
    settings = _settings(asked)
    changed = changed_paths.changed_paths(asked["changed"]) if asked["changed"] else None
    targets = [_place(word) for word in paths] or [_project()]
    run, findings = _linted(settings, targets, changed)
    if fix and (fixed := list(fixes.fix(findings, targets))):
        for one in fixed:
            about = f"{one.finding.tool}: " if one.finding.tool else ""
            said = f"fixed {one.finding.rule} in {one.finding.path}: {about}{one.what}"
            report.say(report.one_line(said))
        run, findings = _linted(settings, targets, changed)
    elif fix and findings:
        those = f"the {len(findings)} findings have" if len(findings) > 1 else "the finding has"
        report.say(f"nothing to fix: {those} no safe fix, so correct what is listed yourself")
    elif fix:
        report.say("nothing to fix: there are no findings")
    _warn_of_what_is_new(targets)
    alone = len(targets) == 1 and run.tools == 0
    broken = run.broken_file if alone else None
    _show(findings, run, "json" if as_json else form, broken=broken)
    failing = ("error", "warning") if asked["strict"] else ("error",)
    return _BROKEN if broken else int(any(finding.severity in failing for finding in findings))


def _linted(
    settings: Settings, targets: Sequence[str], changed: Collection[str] | None
) -> tuple[audit.Audit, list[Finding]]:
    with waiting("linting") as tell:
        run = audit.Audit(
            settings,
            changed=changed,
            progress=lambda done: tell(f"linting, {report.count(done, 'tool')}"),
            keeps=True,
        )
        return run, sorted(run.findings(targets), key=_order)


def _warn_of_what_is_new(places: Sequence[str]) -> None:
    for place in places:
        if os.path.isdir(os.path.join(place, defaults.PROJECT_DIR)):
            for new in (unreviewed.left(place), unreviewed.elsewhere(place)):
                if new:
                    report.warn(unreviewed.sentence(new))


def _order(finding: Finding) -> tuple[str, int, int, str]:
    return finding.path, finding.line, finding.column, finding.rule


def _place(word: str) -> str:
    """Return what an argument names: a path, else the directory of the tool of that name."""
    if os.path.lexists(word):
        return word
    try:
        return audit.shown(_tool_directory(word))
    except (errors.ToolNotFound, errors.ProjectNotFound) as error:
        is_near = isinstance(error, errors.ToolNotFound) and error.close
        raise errors.NotFound(
            f"there is no file or directory {word}, and no tool of that name in a project here",
            hint=error.hint if is_near else PATHS_TAKEN,
        ) from None


def _tool_directory(name: str) -> str:
    workspace = open_workspace()
    try:
        return workspace.resolve_seen(name).entry.path
    except (errors.ToolNotFound, errors.InvalidTool):
        return project_entry(workspace, name).path  # a broken one is what lint is for


def _project() -> str:
    return audit.shown(find_root())


def _settings(asked: dict[str, Any]) -> Settings:
    select, ignore, targets = (_split(asked[key]) for key in ("select", "ignore", "target"))
    for selector in lint_settings.unknown((*select, *ignore)):
        _refuse("rule", selector, [*RULES, *FAMILIES])
    for target in targets:
        if target not in lint_settings.TARGETS:
            _refuse("target", target, lint_settings.TARGETS)
    return Settings(
        select=select,
        ignore=ignore,
        targets=targets,
        least=asked["severity"],
        tools_mode=asked["tools_mode"],
    )


def _split(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def _refuse(what: str, given: str, known: Sequence[str]) -> None:
    close = difflib.get_close_matches(given, known, n=3)
    if not close and what == "rule":
        known = [f"those of {', '.join(FAMILIES)}; `vespe lint --explain FAMILY` lists one"]
    raise errors.UsageError(
        f"there is no {what} {given!r}",
        hint=f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known)}",
    )


def _explain(code: str, paths: Sequence[str]) -> int:
    if code in FAMILIES:
        tables.show(
            ("RULE", "SEVERITY", "ABOUT"),
            [(rule.code, rule.severity, rule.title) for rule in FAMILIES[code]],
        )
        return 0
    if code not in RULES:
        _refuse("rule", code, [*RULES, *FAMILIES])
    rule = RULES[code]
    about = f"\nSpeaks for: {', '.join(sorted(rule.targets))}" if rule.targets else ""
    report.emit_sentence(
        f"{rule.code} ({rule.severity}): {rule.title}\n\n{rule.rationale}{about}\n\nBad:   "
        f"{rule.bad}\nGood:  {rule.good}",
        hanging=0,
    )
    if code == "flow-exfiltration":
        _draw(list(paths))
    return 0


def _draw(paths: list[str]) -> None:
    """Draw the tools that the rule is about, of what is named or of the project here; nothing where
    there is none.
    """
    try:
        flows = list(audit.flows(paths or [_project()]))
    except errors.ProjectNotFound:
        return
    for flow in flows:
        report.emit(f"\nHere:\n\n{drawn(flow)}")
    if not flows:
        report.emit_sentence("\nHere: no three tools do this, or somebody is asked.")


def _show(findings: list[Finding], run: audit.Audit, form: str, *, broken: str | None) -> None:
    if form == "json":
        error = (
            {
                "error": {
                    "code": errors.InvalidDocument.code,
                    "message": f"{findings[0].path}: {broken}",
                }
            }
            if broken and findings
            else {}
        )
        report.emit_json(error | lint_report.document(findings, run.tools))
    elif form == "sarif":
        lint_report.show_sarif(findings, list(RULES.values()))
    elif form == "github":
        lint_report.show_github(findings)
    else:
        lint_report.show_text(findings, run.tools)
