"""Render docs/lint.md from the rules, the table of limits and the figures;
`python -m tests.support.render_lint` writes it.
"""

import json
from pathlib import Path

from tests.benchmarks.lint import FIGURES as SPEED
from tests.benchmarks.lint_corpus import FIGURES
from vespe.adapters.limits import LIMITS
from vespe.features.lint import FAMILIES
from vespe.features.lint.base import AnyRule

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lint.md"
HEAD = """# Lint

This page is generated from the rules themselves (`./dev docs`); a test compares the two.

`vespe lint [PATH…]` checks a project, a kit, a directory of tools, one tool, or files of definitions for OpenAI, Anthropic, Gemini,
Ollama or MCP (JSON, JSONL, YAML), which it recognizes by their keys. Lint imports and runs nothing.

```console
$ vespe init
…
$ vespe tool create hello --type python_script
…
$ vespe lint
0 errors, 0 warnings in 1 tool
```

An **error** is something that Vespe or a model API refuses. A **warning** can mislead a model or a reader. An **info** is worth a look.
The exit code is 1 if there are errors (with `--strict` also for warnings), and 4 if the only file to lint is not JSON. A portability rule
is about one API. It is an error in definitions in that API's format and with `--target`; otherwise
it is a warning. It is an info where Vespe's own export avoids the problem: Gemini's limits on `parameters`, because Vespe sends `parametersJsonSchema`.

- `--format text|json|sarif|github` chooses the output: text for people, JSON for scripts, SARIF 2.1.0 for code scanning, annotations for GitHub.
- `--select` and `--ignore` take codes, families (`schema`) or prefixes of codes (`schema-required`). `--severity` sets the lowest severity to report.
- `--target openai,anthropic,gemini,ollama,mcp` checks only the portability rules of these APIs. `openai-responses` and `openresponses` count as
  `openai`, and `gemini-interactions` as `gemini`, without the limits on schemas that apply only to `generateContent`.
- `--changed REV` reports only on tools that changed since a git revision. The other tools are still used for comparisons.
- `--fix` fixes reported findings where that is safe: a missing `additionalProperties` (`schema-open`) and type names of programming languages
  (`schema-unknown-type`). It prints each fix, and writes a changed config.json in Vespe's own format. It does not change YAML, because comments would be lost, or files that cannot be read.
- `--explain CODE` prints the text on this page, and `--explain FAMILY` lists the rules of one family.

To suppress a rule for one tool, list it in its config.json, with the reason:

```json
{"lint": {"ignore": {"description-too-short": "the model needs no more than the name"}}}
```

`.vespe/config.json` does the same for all tools of a project. It can also choose rules, targets and severities, and set a token budget:

```json
{
  "lint": {"ignore": {"schema-open": "headers are free"}, "targets": ["openai"], "severity": {"description-missing": "error"}},
  "tool_budget": 4000
}
```

An ignore that is not needed is reported as well.

## In CI

With [pre-commit](https://pre-commit.com), in `.pre-commit-config.yaml`:

```text
repos:
  - repo: https://github.com/OWNER/vespe  # your source of Vespe
    rev: COMMIT
    hooks:
      - id: vespe-lint
      - id: vespe-tool-test
```

On GitHub, as a step of a job (annotations appear beside the lines):

```text
- uses: OWNER/vespe/.github/actions/lint@COMMIT
  with:
    paths: .
    target: openai,anthropic
```

Both install Vespe from the commit that you name, without a package index. The step's `version:` selects another version.
For code scanning, upload what `vespe lint --format sarif` prints.
"""


def rule_text(rule: AnyRule) -> str:
    """Give the section of one rule."""
    about = f" It applies to {', '.join(sorted(rule.targets))}." if rule.targets else ""
    head = f"### {rule.code}\n\n**{rule.severity}** · {rule.title}\n\n{rule.rationale}{about}\n"
    return f"{head}\n```text\nbad:  {rule.bad}\ngood: {rule.good}\n```\n"


def limits() -> str:
    """Give the table of each API's limits."""
    rows = [
        f"| {row.api} | {row.about} | {row.words} | {row.source.page} | {row.source.date} | "
        f"{row.source.standing} |"
        for row in LIMITS
    ]
    head = [
        "## Limits of the APIs\n",
        "| API | about | takes | source | date | standing |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows, ""])


def figures() -> str:
    """Give what the corpus showed."""
    rows = json.loads(FIGURES.read_text(encoding="utf-8"))
    lines = [
        "## Figures\n",
        "All rules on real definitions, measured with `python -m tests.benchmarks.lint_corpus DIR "
        "--write`. DIR has one folder for each",
        "collection. `bfcl` is a leaderboard whose definitions use the types of programming "
        "languages. APIs and clients accept the",
        "definitions of the other collections.\n",
        "| collection | files | definitions | with errors | seconds |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['collection']} | {r['files']} | {r['definitions']} | {r['with_errors']} | "
        f"{r['seconds']} |"
        for r in rows
    ]
    speed = json.loads(SPEED.read_text(encoding="utf-8"))
    lines += [
        f"\n{speed['tools']:,} tool directories, every rule, on two shared cores: "
        f"{speed['seconds']} s,",
        f"{speed['ratio']} times reading and parsing the same files; "
        f"at its peak {speed['mib']} MiB,",
        f"where bare Python has {speed['floor_mib']} MiB (`python -m "
        "tests.benchmarks.lint --write`).",
    ]
    for row in rows:
        lines += [f"\n{row['collection']}, findings by rule:\n", "| rule | findings |", "|---|---|"]
        lines += [f"| {rule} | {count} |" for rule, count in row["findings"].items()]
    return "\n".join([*lines, ""])


def render() -> str:
    """Give the whole page."""
    parts = [HEAD]
    for family, rules in FAMILIES.items():
        parts.append(f"## {family.capitalize()}\n")
        parts += [rule_text(rule) for rule in rules]
    return "\n".join([*parts, limits(), figures()])


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
