"""A kit in a real git repository of its author's, whose git knows who that is."""

import json
from pathlib import Path
from typing import Any

from tests.support import gitrepo
from tests.support.ondisk import write_kit, write_tool

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def kit_in_git(parent: Path, kit_id: str = "words", *, version: str = "0.1.0") -> Path:
    """Make a kit with one tool that runs `true`, committed on main and not tagged."""
    kit = write_kit(parent, kit_id, version=version, allow_types=["shell_command"])
    runs = {"type": "shell_command", "entrypoint": "true", "args": {"args": []}}
    example = {"input": {"text": "a"}, "output_pattern": "^$"}
    write_tool(kit / "tool-say", "say", implementation=runs, schema=SCHEMA, examples=[example])
    gitrepo.repository(kit)
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.invalid")):
        gitrepo.git(kit, "config", name, value)
    gitrepo.commit(kit, "First")
    return kit


def changed(kit: Path, change: Any, *, message: str = "Change") -> None:
    """Change the config.json of the tool, and commit it."""
    path = kit / "tool-say/config.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    gitrepo.commit(kit, message)


def shorten(document: dict[str, Any]) -> None:
    """Break callers: a text may be of three letters at most."""
    document["schema"]["input"]["properties"]["text"]["maxLength"] = 3


def hook(kit: Path, name: str, *lines: str) -> None:
    """Give the repository a hook."""
    path = kit / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    path.chmod(0o755)


def state(kit: Path) -> tuple[str, str, str, str]:
    """Give all that a release may change: the branch, the tags, the index and the files."""
    files = {
        str(path.relative_to(kit)): path.read_bytes()
        for path in sorted(kit.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(kit).parts
    }
    return (
        gitrepo.git(kit, "rev-parse", "HEAD"),
        gitrepo.git(kit, "for-each-ref"),
        gitrepo.git(kit, "status", "--porcelain"),
        repr(files),
    )
