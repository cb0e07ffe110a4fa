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

`vespe lint [PATH…]` judges a project, a kit, a directory of tools, one tool, or files of definitions for OpenAI, Anthropic, Gemini,
Ollama or MCP (JSON, JSONL, YAML), recognised by their shape. Nothing that is linted is imported or run.

```console
$ vespe init
…
$ vespe tool create hello --type python_script
…
$ vespe lint
0 errors, 0 warnings in 1 tool
```

An **error** is what a model's API or Vespe refuses; a **warning** misleads a model or a reader; an **info** is worth a look. Errors
exit with 1, with `--strict` warnings too. A file that is not JSON is exit 4 where it is the only thing linted. A portability rule
speaks for an API: what that API refuses is an error in definitions of its own shape, and wherever `--target` asks for it; elsewhere
it is a warning.

- `--format text|json|sarif|github`: text for people, JSON for scripts, SARIF 2.1.0 for code scanning, annotations for GitHub.
- `--select` and `--ignore` take codes, families (`schema`) or beginnings of codes (`schema-required`), `--severity` the least grave.
- `--target openai,anthropic,gemini,ollama,mcp` keeps the portability rules of those. `openai-responses` and `openresponses` are judged as
  `openai`, `gemini-interactions` as `gemini`, whose limits on schemas hold for `generateContent` alone.
- `--changed REV` judges only the tools that changed since a git revision; the others are compared with.
- `--fix` mends what is safe to mend: the form of Vespe's own files, a missing `additionalProperties`, types under another language's
  name. YAML stays as it is, since its comments would be lost; so does what cannot be read.
- `--explain CODE` prints what stands here, `--explain FAMILY` the rules of one family.

To suppress a rule for one tool, list it in its config.json, with the reason:

```json
{"lint": {"ignore": {"description-too-short": "the model needs no more than the name"}}}
```

A project does in `.vespe/config.json`, for all its tools, and may choose rules, targets and severities and set a budget of tokens:

```json
{
  "lint": {"ignore": {"schema-open": "headers are free"}, "targets": ["openai"], "severity": {"description-missing": "error"}},
  "tool_budget": 4000
}
```

An ignore that nothing needs is itself reported.

## In CI

With [pre-commit](https://pre-commit.com), in `.pre-commit-config.yaml`:

```text
repos:
  - repo: https://github.com/OWNER/vespe  # where you have Vespe from
    rev: COMMIT
    hooks:
      - id: vespe-lint
      - id: vespe-tool-test
```

On GitHub, as a step of a job (the annotations stand beside the lines):

```text
- uses: OWNER/vespe/.github/actions/lint@COMMIT
  with:
    paths: .
    target: openai,anthropic
```

Both take Vespe from the commit that you name there, and ask no package index for it; `version:` of the step names another.
For code scanning, upload what `vespe lint --format sarif` prints.
"""


def rule_text(rule: AnyRule) -> str:
    """Give the section of one rule."""
    about = f" It speaks for {', '.join(sorted(rule.targets))}." if rule.targets else ""
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
        "Every rule over real definitions, made by `python -m tests.benchmarks.lint_corpus DIR "
        "--write`, where DIR has one folder a",
        "collection. `bfcl` is a leaderboard whose definitions use the types of programming "
        "languages; the others were taken by APIs and",
        "clients as they are.\n",
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
        f"\n{speed['tools']:,} tool directories, every rule, on two cores that other work shared: "
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
