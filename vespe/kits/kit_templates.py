"""What a new kit begins with beside its tool: the README, the workflow that checks it, and what git leaves out."""

from typing import Final

_README: Final = """# {title}

{summary}

## Use it

In a project of [Vespe](https://pypi.org/project/vespe/), with this repository's own address:

    vespe kit install gh:OWNER/{kit_id} --activate

Without git, `vespe kit pack` makes one file that `vespe kit install FILE.kit` takes.

## Change it

Each `tool-…` directory is one tool: `config.json` (what a model sees, and how it runs), `description.md` and its script.

    vespe kit link .                 # every project of yours finds this directory, as it is
    vespe kit activate {kit_id}
    vespe lint . --strict
    vespe tool test

`kit_config.json` states what the kit's tools may use: `allow_types`, `allow_hosts`, `secrets`. A tool that goes beyond it does
not activate; whoever installs the kit reads these lines first. The examples in each config.json are its tests, and
`.github/workflows/kit.yml` runs lint and tests on every push.

## Publish it

    git init && git add . && git commit -m "First version" && git tag v0.1.0
    git push --tags YOUR-REMOTE HEAD
"""
_WORKFLOW: Final = """name: kit
on:
  push:
  pull_request:
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v4
        with:
          path: {kit_id}
      - uses: actions/setup-python@v5
        with:
          python-version: "3.x"
      - run: pip install vespe
      - run: vespe lint --strict {kit_id}
      - run: vespe init project
      - run: vespe kit link {kit_id}
      - run: vespe kit activate {kit_id} --project project
      - run: vespe tool test --project project
"""
_IGNORED: Final = "__pycache__/\n*.tmp\n*.kit\n"
WORKFLOW: Final = ".github/workflows/kit.yml"


def kit_files(kit_id: str, *, title: str, summary: str) -> dict[str, str]:
    """Give the texts of a new kit's files, by path, but for kit_config.json and its tools."""
    return {
        "README.md": _README.format(kit_id=kit_id, title=title, summary=summary),
        WORKFLOW: _WORKFLOW.format(kit_id=kit_id),
        ".gitignore": _IGNORED,
    }
