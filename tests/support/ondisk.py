"""Tools, kits and commands as a person would make and run them: files on disk and real
processes.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vespe.files import identity, walk
from vespe.projects import project
from vespe.trust import approvals, gate
from vespe.trust.approvals import Approval


def write_tool(
    directory: Path,
    name: str = "echo",
    *,
    implementation: Mapping[str, Any] | None = None,
    schema: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    **extra: Any,
) -> Path:
    """Write a tool directory by hand, as a person would; its name is the uid."""
    directory.mkdir(parents=True)
    config: dict[str, Any] = {
        "uid": directory.name,
        "name": name,
        "description": f"The {name} tool, written by hand for a test.",
        "schema": {"input": dict(schema or {"type": "object", "properties": {}})},
    }
    if implementation is not None:
        config["implementation_details"] = dict(implementation)
    config.update(extra)
    (directory / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    (directory / "description.md").write_text(f"# {name}\n\nA tool for a test.\n", encoding="utf-8")
    for filename, text in (files or {}).items():
        (directory / filename).write_text(text, encoding="utf-8")
    return directory


def python_tool(
    directory: Path, name: str, body: str, *, params: str = "**inputs", **extra: Any
) -> Path:
    """Write a python_script tool whose function has the given body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    implementation = {"type": "python_script", "path": "main.py", "entrypoint": name, "args": {}}
    return write_tool(
        directory,
        name,
        implementation=implementation,
        files={"main.py": f"def {name}({params}):\n{lines}"},
        **extra,
    )


def write_kit(root: Path, kit_id: str, **extra: Any) -> Path:
    """Write a kit directory with no tools yet."""
    directory = root / kit_id
    directory.mkdir(parents=True)
    config = {
        "kit_id": kit_id,
        "name": kit_id,
        "description": "A kit for a test.",
        "version": "1.0.0",
        **extra,
    }
    (directory / "kit_config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    return directory


def approve_bytes(root: Path, *, secrets: tuple[str, ...] = ()) -> Approval:
    """Approve a project's bytes where they are, and the kits that it has active, as
    `vespe trust --yes` does.
    """
    place = identity.place_of(os.path.realpath(root))
    assert place
    scopes = gate.scopes_of(project.read_config(root))
    return approvals.store_content(
        place, walk.scan(str(root), *gate.TOOLS), secrets=secrets, scopes=scopes
    )


PATIENCE_S = 90.0
"""How long a test waits for what is sure to come: only one that fails waits so long."""


def interruptible(**extra: str) -> dict[str, str]:
    """Give the environment of a process that a signal will interrupt: it is not measured.

    An exception that comes while the tracer of coverage holds its lock leaves the lock taken, and
    the process stands still.
    """
    return {
        name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")
    } | extra


def vespe(
    *arguments: str,
    cwd: Path | None = None,
    stdin: str | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as a user would; it must end within PATIENCE_S."""
    return subprocess.run(
        [sys.executable, "-m", "vespe", *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input="" if stdin is None else stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
