"""Whatever stands in the files of a project, lint says where, and never fails itself."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.ondisk import write_tool
from vespe.features.lint.audit import Audit
from vespe.features.lint.findings import Finding
from vespe.features.lint.settings import Settings

KEYS = (
    "uid",
    "name",
    "description",
    "schema",
    "input",
    "output",
    "implementation_details",
    "type",
    "path",
    "entrypoint",
    "args",
    "argv",
    "stdin",
    "query",
    "headers",
    "lint",
    "ignore",
    "select",
    "severity",
    "targets",
    "tool_budget",
    "active_kits",
    "tool_resolution_order",
    "examples",
    "annotations",
    "secrets",
    "properties",
    "required",
    "default",
    "enum",
)
WORDS = (
    "",
    "object",
    "string",
    "python_script",
    "shell_command",
    "http_request",
    "main.py",
    "run",
    "{a}",
    "${env:A}",
    "tool-a",
    "../x",
    "\ud800",
    "https://example.com/{a}",
    "schema-open",
    "\x00",
    "\u202e",
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)


def lint(path: Path) -> list[Finding]:
    findings = list(Audit(Settings()).findings([str(path)]))
    assert all(f.line >= 1 and f.column >= 1 and f.pointer is not None for f in findings)
    return findings


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8), VALUES, st.booleans())
def test_any_json_in_a_projects_files_is_judged(
    tool: dict[str, Any], config: Any, whole: bool
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        directory = write_tool(
            Path(scratch) / ".vespe" / "tools" / "tool-a",
            files={"main.py": "def run(a: int = 1):\n    pass\n"},
        )
        base = {} if whole else json.loads((directory / "config.json").read_text(encoding="utf-8"))
        (directory / "config.json").write_text(json.dumps(base | tool), encoding="utf-8")
        (Path(scratch) / ".vespe" / "config.json").write_text(json.dumps(config), encoding="utf-8")
        lint(Path(scratch))


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=60)
    | st.text(alphabet='[]{}",:\\nutf0123e-. \n\ud800\ufeff', max_size=60).map(
        lambda t: t.encode("utf-8", "surrogatepass")
    )
)
def test_any_bytes_in_a_file_are_a_finding_or_definitions(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("tools.json", "tools.jsonl", "tools.yaml"):
            (Path(scratch) / name).write_bytes(data)
            lint(Path(scratch) / name)


@pytest.mark.parametrize("kind", ["fifo", "link", "directory", "unreadable", "gone"])
def test_an_odd_thing_in_the_place_of_a_file_hides_no_other_tool(tmp_path: Path, kind: str) -> None:
    tools = tmp_path / ".vespe" / "tools"
    write_tool(
        tools / "tool-good",
        implementation={"type": "shell_command", "entrypoint": "no-such-program"},
    )
    odd = tools / "tool-odd"
    odd.mkdir()
    file = odd / "config.json"
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to(tools / "tool-good" / "config.json")
    elif kind == "directory":
        file.mkdir()
    elif kind == "unreadable":
        file.write_bytes(b"\xff\xfe")
    found = {(Path(f.path).parent.name, f.rule) for f in lint(tmp_path)}
    assert ("tool-odd", "layout-unreadable") in found
    assert ("tool-good", "layout-program") in found
