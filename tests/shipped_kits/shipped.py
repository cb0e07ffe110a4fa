"""The tools of the kits that ship, and one call of one of them: schema, executor, output schema."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vespe.errors import InvalidArguments
from vespe.models import Tool
from vespe.processes import process
from vespe.processes.workers import Workers
from vespe.schemas import validator
from vespe.tool_types import Context, type_of
from vespe.tools import directory as tool_directory

KITS = Path(__file__).parents[2] / "kits"
DIRECTORIES = {
    f"{path.parent.name}/{path.name.removeprefix('tool-uid_')}": path
    for path in sorted(KITS.glob("*/tool-*"))
}


def load(name: str) -> Tool:
    """Load a tool by `kit_id/uid without tool-uid_`."""
    directory = DIRECTORIES[name]
    return tool_directory.load(directory, scope=directory.parent.name, kit_id=directory.parent.name)


def call(
    tool: Tool | str,
    inputs: dict[str, Any],
    *,
    at: Path,
    allow_hosts: tuple[str, ...] = (),
    env: Mapping[str, str] | None = None,
    workers: Workers | None = None,
) -> Any:
    """Call a tool for real, as the call path does; raises its VespeError."""
    tool = load(tool) if isinstance(tool, str) else tool
    violations = validator.compile_schema(tool.input_schema, closed=True).violations(inputs)
    if violations:
        raise InvalidArguments(
            "; ".join(v.message for v in violations), violations=[v.to_json() for v in violations]
        )
    assert tool.implementation is not None and tool.directory is not None
    context = Context(
        project_root=str(at),
        directory=tool.directory,
        environment=process.child_environment(os.environ, env or {}),
        timeout_s=30.0,
        allow_hosts=allow_hosts,
        workers=workers,
    )
    result = (
        type_of(tool.implementation.type)
        .executor()
        .execute(tool, validator.fill_defaults(tool.input_schema, inputs), context)
        .result
    )
    assert tool.output_schema is not None
    assert validator.compile_schema(tool.output_schema, closed=False).violations(result) == []
    return result


def git(at: Path, *arguments: str) -> str:
    """Run git as a user would."""
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(
        ["git", *who, *arguments],
        cwd=at,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def stage(tool: Tool, at: Path) -> Path:
    """Lay out a tool's `example_files`, in a git repository where `example_git` asks for one."""
    at.mkdir()
    for name, text in tool.document.get("example_files", {}).items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(text, encoding="utf-8")
    if tool.document.get("example_git"):
        git(at, "init", "-q", "-b", "main")
        git(at, "add", ".")
        git(at, "commit", "-qm", "Example files")
    return at


def document(name: str) -> dict[str, Any]:
    """Read a tool's config.json as it stands."""
    loaded: dict[str, Any] = json.loads(
        (DIRECTORIES[name] / "config.json").read_text(encoding="utf-8")
    )
    return loaded
