"""A new kit of one's own: with a tool that runs, a README and a workflow that checks it; whole or
not at all.
"""

import os
import re
from typing import Any, Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidTool, UsageError
from vespe.files import atomic, staging, trees
from vespe.kits import edited, own_source
from vespe.kits.roots import KIT_ID
from vespe.models import JsonObject, Tool
from vespe.tools import authoring, drafts
from vespe.tools.allowances import excess
from vespe.tools.directory import limits_above
from vespe.tools.permissions import LISTS

_NOTHING: Final[JsonObject] = {name: [] for name in LISTS}
"""The permissions of the first tool: it computes, and needs nothing."""


def found_kit(
    parent: str | os.PathLike[str], kit_id: str, *, description: str | None = None
) -> tuple[str, Tool]:
    """Make a kit with one working tool in `parent` (made where it is missing), and return its path
    and the tool.

    It comes in one rename; what a killed one left goes. Raises UsageError where the id is none, or
    is taken in `parent`; StorageError, and then nothing is left.
    """
    if not KIT_ID.fullmatch(kit_id) or kit_id in defaults.DEFAULT_ORDER:
        meant = re.sub(r"[^a-z0-9]+", "_", kit_id.lower()).strip("_")
        hint = f"call it {meant}" if KIT_ID.fullmatch(meant) and meant != kit_id else ""
        raise UsageError(
            f"{kit_id!r} is not a valid kit id: use lower-case letters, digits and _, at most 64",
            hint=hint,
        )
    root = os.path.abspath(parent)
    path = os.path.join(root, kit_id)
    atomic.private_directory(root, mode=0o755)
    with atomic.locked(root):
        staging.sweep(root)
        if os.path.lexists(path):
            raise UsageError(
                f"there is a {path} already", hint="choose another id, or remove it first"
            )
        with staging.staging(root, target=path) as aside, atomic.translated("make", path):
            staged = os.path.join(aside, kit_id)
            os.mkdir(staged, 0o755)
            tool = _fill(staged, kit_id, description or f"Tools of the kit {kit_id}.")
            staging.place(staged, path)
    return path, tool


def _fill(directory: str, kit_id: str, summary: str) -> Tool:
    title = kit_id.replace("_", " ").capitalize()
    config: JsonObject = {
        "kit_id": kit_id,
        "name": title,
        "description": summary,
        "version": "0.1.0",
    }
    config |= {"allow_types": ["python_script"], "allow_hosts": [], "secrets": []}
    files = {defaults.KIT_CONFIG_FILE: strict_json.dump_json(config)}
    files |= kit_files(kit_id, title=title, summary=summary)
    for name, text in files.items():
        place = os.path.join(directory, name)
        atomic.private_directory(os.path.dirname(place), mode=0o755)
        atomic.write_atomic(place, text)
    tool = authoring.create_tool(directory, _draft(kit_id), taken=lambda name: False)
    # what the making of the tool could not delete must not become a part of the kit
    staging.sweep(directory)
    trees.flush(directory)
    return tool


def _draft(kit_id: str) -> drafts.Draft:
    """The template of a Python tool with an example, so that the kit's tests test something from
    the first day.
    """
    draft = drafts.draft_tool(f"example_of_{kit_id[:48]}", "python_script")
    example: dict[str, Any] = {
        "input": {"text": "hello, world"},
        "output": {"characters": 12, "words": 2, "lines": 1},
    }
    return drafts.Draft(
        name=draft.name,
        document={**draft.document, "permissions": _NOTHING, "examples": [example]},
        files=draft.files,
        notes=draft.notes,
    )


def add_tool(kit: str | os.PathLike[str], draft: drafts.Draft) -> Tool:
    """Make the tool of a draft in a kit that its author edits, given by its directory or its id,
    and return it.

    Raises UsageError where there is no kit or the name is taken in it, Refused for an installed
    kit, InvalidTool for a tool that goes beyond what the kit states.
    """
    directory = edited.directory_of(kit)
    if beyond := [
        f"config.json at {pointer}: {text}"
        for pointer, text in excess(draft.document, limits_above(directory))
    ]:
        raise InvalidTool(draft.name, beyond, path=directory)
    return authoring.create_tool(
        directory,
        draft,
        taken=lambda name: edited.has_tool(directory, name),
    )


_README: Final = """# {title}

{summary}

## Use it

In a project of Vespe, with this repository's own address:

    vespe kit install gh:OWNER/{kit_id} --activate

Without git, `vespe kit pack` makes one file that `vespe kit install FILE.kit` takes.

## Change it

Each `tool-…` directory is one tool: `config.json` (what a model sees, and how it runs), `description.md` and its script.

    vespe kit link .                 # every project of yours finds this directory, as it is
    vespe lint . --strict
    vespe tool test --kit .

`kit_config.json` states what the kit's tools may use: `allow_types`, `allow_hosts`, `secrets`. A tool that goes beyond it does
not activate; whoever installs the kit reads these lines first. The examples in each config.json are its tests, and
`.github/workflows/kit.yml` runs lint and tests on every push.

## Publish it

    git init && git add . && git commit -m "First version"
    vespe kit release

`vespe kit release` lints and tests the kit, writes its version and CHANGELOG.md, and makes one commit and one tag. It pushes nothing,
and says which command does. It needs the extra `vespe[release]`. Without it: `git tag v0.1.0`, then `git push --tags YOUR-REMOTE HEAD`.
"""  # noqa: E501  # a file as it is written
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
    env:
      {install}
    steps:
      - uses: actions/checkout@v4
        with:
          path: {kit_id}
      - uses: actions/setup-python@v5
        with:
          python-version: "3.x"
      - run: pip install "${{VESPE_INSTALL:?fill it in above}}"
      - run: vespe lint --strict {kit_id}
      - run: vespe init project
      - run: vespe kit link {kit_id}
      - run: vespe kit activate {kit_id} --project project
      - run: vespe tool test --project project
"""
_IGNORED: Final = "__pycache__/\n*.tmp\n*.kit\n"
WORKFLOW: Final = ".github/workflows/kit.yml"


KIT_FILES: Final = ("README.md", WORKFLOW, ".gitignore")
"""What a new kit has beside kit_config.json and its tools."""


def kit_files(kit_id: str, *, title: str, summary: str) -> dict[str, str]:
    """Return the texts of a new kit's files, by path, but for kit_config.json and its tools.

    Raises UsageError for a VESPE_INSTALL that is more than one line.
    """
    return {
        "README.md": _README.format(kit_id=kit_id, title=title, summary=summary),
        WORKFLOW: _WORKFLOW.format(kit_id=kit_id, install=own_source.workflow_lines(os.environ)),
        ".gitignore": _IGNORED,
    }
