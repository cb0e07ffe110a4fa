"""A new kit of one's own: with a tool that runs, a README and a workflow that checks it; whole or not at all."""

import os
import re
from typing import Any, Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import StorageError, UsageError, VespeError
from vespe.files import trees
from vespe.kits import kit_templates
from vespe.kits.roots import KIT_ID
from vespe.models import JsonObject, Tool
from vespe.processes.signals import whole
from vespe.tools import authoring, drafts

LEFTOVER: Final = re.compile(r"\.[a-z0-9_]{1,64}\.[0-9a-f]{12}\.tmp")
"""Names of `aside_of`."""


@whole
def found_kit(parent: str | os.PathLike[str], kit_id: str, *, description: str | None = None) -> tuple[str, Tool]:
    """Make a kit with one working tool in `parent` (made where it is missing), and give its path and the tool.

    It comes in one rename; what a killed one left goes. Raises UsageError where the id is none, or is taken in `parent`;
    StorageError, and then nothing is left.
    """
    if not KIT_ID.fullmatch(kit_id) or kit_id in defaults.DEFAULT_ORDER:
        raise UsageError(f"{kit_id!r} is no kit id: it takes lower-case letters, digits and _, 64 at most")
    root = os.path.abspath(parent)
    path, aside = os.path.join(root, kit_id), aside_of(root, kit_id)
    try:
        os.makedirs(root, exist_ok=True)
        with strict_json.locked(root):
            sweep(root)
            if os.path.lexists(path):
                raise UsageError(f"there is a {path} already", hint="choose another id, or remove it first")
            tool = _fill(aside, kit_id, description or f"Tools of the kit {kit_id}.")
            strict_json.rename_durably(aside, path)
    except OSError as error:
        raise error if isinstance(error, VespeError) else StorageError("make", path, error) from error
    finally:
        discard(aside)
    return path, tool


def _fill(directory: str, kit_id: str, summary: str) -> Tool:
    title = kit_id.replace("_", " ").capitalize()
    config: JsonObject = {"kit_id": kit_id, "name": title, "description": summary, "version": "0.1.0"}
    config |= {"allow_types": ["python_script"], "allow_hosts": [], "secrets": []}
    files = {defaults.KIT_CONFIG_FILE: strict_json.dump_json(config)}
    files |= kit_templates.kit_files(kit_id, title=title, summary=summary)
    for name, text in files.items():
        place = os.path.join(directory, name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        strict_json.write_atomic(place, text)
    tool = authoring.create_tool(directory, _draft(kit_id), taken=lambda name: False)
    trees.sweep(directory)
    trees.flush(directory)
    return tool


def _draft(kit_id: str) -> drafts.Draft:
    """The template of a Python tool with an example, so that the kit's tests test something from the first day."""
    draft = drafts.draft_tool(f"example_of_{kit_id[:48]}", "python_script")
    example: dict[str, Any] = {"input": {"text": "hello, world"}, "output": {"characters": 12, "words": 2, "lines": 1}}
    return drafts.Draft(name=draft.name, document={**draft.document, "examples": [example]}, files=draft.files, notes=draft.notes)


def aside_of(root: str, kit_id: str) -> str:
    """Give a fresh name in `root` for a kit that is being made or taken away."""
    return os.path.join(root, f".{kit_id}.{os.urandom(6).hex()}.tmp")


def sweep(root: str) -> None:
    """Delete what killed processes left of kits in `root`; the caller holds its lock."""
    for name in os.listdir(root):
        if LEFTOVER.fullmatch(name):
            discard(os.path.join(root, name))


def discard(aside: str) -> None:
    """Delete a kit that is in no place; what cannot be deleted is swept later."""
    try:
        if not os.path.islink(aside):
            trees.delete_tree(aside)
    except OSError:
        return
