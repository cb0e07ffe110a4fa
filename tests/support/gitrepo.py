"""Real git repositories for tests: kits that are published, trees that git itself would never make,
and what changes in them.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool, write_kit

_WHO = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "Test"), ("EMAIL", "t@localhost"))
}
_WHEN = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}


def git(repository: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git in a repository and give what it printed, without the last newline."""
    environment = {**os.environ, **_WHO, **_WHEN}
    done = subprocess.run(
        ["git", *arguments],
        cwd=repository,
        input=stdin,
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def repository(directory: Path) -> Path:
    """Make an empty repository whose first branch is main."""
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "--quiet", "-b", "main")
    return directory


def commit(directory: Path, message: str = "next") -> str:
    """Commit all that is in a repository's work tree, and give the commit's id."""
    git(directory, "add", "--all")
    git(directory, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(directory, "rev-parse", "HEAD")


def published(directory: Path, *kit_ids: str, body: str = "return 1", **extra: Any) -> Path:
    """Make a repository of kits with one tool each (`NAME_tool`), committed and tagged v1; one kit
    of the id "" is the root itself.

    Git makes each such repository once for a run; the others are copies.
    """
    asked = json.dumps([kit_ids, body, extra])
    if asked not in _MADE:
        _MADE[asked] = Path(_PLACE.name) / str(len(_MADE))
        _publish(_MADE[asked], *kit_ids, body=body, **extra)
    shutil.copytree(_MADE[asked], directory, symlinks=True, dirs_exist_ok=True)
    return directory


_PLACE = tempfile.TemporaryDirectory(prefix="vespe-published-")
_MADE: dict[str, Path] = {}


def _publish(directory: Path, *kit_ids: str, body: str, **extra: Any) -> None:
    made = repository(directory)
    for kit_id in kit_ids or ("weather",):
        write_kit(directory, kit_id, **extra)
        python_tool(directory / kit_id / f"tool-{kit_id}", f"{kit_id}_tool", body)
    commit(made, "first")
    git(made, "tag", "v1")


def root_kit(directory: Path, kit_id: str = "weather", *, body: str = "return 1") -> Path:
    """Make a repository that is one kit itself, committed and tagged v1."""
    made = repository(directory)
    config = {
        "kit_id": kit_id,
        "name": kit_id,
        "description": "A kit for a test.",
        "version": "1.0.0",
    }
    (directory / "kit_config.json").write_text(json.dumps(config), encoding="utf-8")
    python_tool(directory / f"tool-{kit_id}", f"{kit_id}_tool", body)
    commit(made, "first")
    git(made, "tag", "v1")
    return made


def blob(directory: Path, content: bytes) -> str:
    """Keep a blob, and give its id."""
    return git(directory, "hash-object", "-t", "blob", "-w", "--stdin", stdin=content)


def raw_tree(directory: Path, rows: Sequence[tuple[str, bytes, str]]) -> str:
    """Keep a tree of exactly these rows (mode, name, id), in the order in which git wants them,
    whatever they say; give its id.
    """
    ordered = sorted(rows, key=lambda row: row[1] + (b"/" if row[0] == "40000" else b""))
    body = b"".join(
        f"{mode} ".encode() + name + b"\0" + bytes.fromhex(identity)
        for mode, name, identity in ordered
    )
    header = f"tree {len(body)}\0".encode()
    identity = hashlib.sha1(header + body, usedforsecurity=False).hexdigest()
    kept = git(directory, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=body)
    assert kept == identity
    return identity


def commit_tree(directory: Path, tree: str, *, branch: str = "main") -> str:
    """Commit a tree as it is, and let the branch be that commit."""
    made = git(directory, "commit-tree", tree, "-m", "as it is")
    git(directory, "update-ref", f"refs/heads/{branch}", made)
    return made


def nested(directory: Path, entries: Sequence[Mapping[str, Any]]) -> str:
    """Keep a tree of rows as the tables of cases have them: `path`, `mode`, `content`, or `tree`
    with rows of its own.

    Names and contents are UTF-8, or Latin-1 under `latin1`; `times` repeats the path's character.
    """
    rows = []
    for entry in entries:
        name = (entry["path"] * int(entry.get("times", 1))).encode(
            "latin-1" if entry.get("latin1") else "utf-8"
        )
        if "tree" in entry:
            rows.append(("40000", name, nested(directory, entry["tree"])))
        elif entry.get("mode") == "160000":
            rows.append(("160000", name, "1" * 40))
        else:
            rows.append(
                (
                    entry.get("mode", "100644"),
                    name,
                    blob(directory, entry.get("content", "x").encode()),
                )
            )
    return raw_tree(directory, rows)


def hostile(directory: Path, entries: Sequence[Mapping[str, Any]]) -> Path:
    """Make a repository whose one commit is a kit with these entries beside its kit_config.json."""
    made = repository(directory)
    config = json.dumps({"kit_id": "hostile", "name": "h", "description": "Hostile."})
    commit_tree(made, nested(made, [{"path": "kit_config.json", "content": config}, *entries]))
    return made
