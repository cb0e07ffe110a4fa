"""Programs of users, as pyright sees them; mypy reads the same files with the tests. The documented
forms are no type errors, and a misspelt setting is one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULES = Path(sys.prefix) / "node/node_modules"
PYRIGHT = MODULES / "pyright/index.js"
NODE = MODULES / "node/bin/node"
ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests/cases/typing"
pytestmark = pytest.mark.skipif(
    not PYRIGHT.exists(), reason="`./dev servers` could not bring pyright: npm's registry is away"
)
WRONG = """\
from vespe import AgentOptions, Answer, CallPolicy, Project, Toolset, report_message

Toolset(approve="alll")
Toolset(tools_mode="bridged")
AgentOptions(approve="yes")
Answer(allowed=True, holds="forever")
CallPolicy(flow="never")
Project().create_tool("a", type="python")
report_message("loud", "x")
"""


def test_programs_of_users_are_no_type_errors_and_misspelt_settings_are(tmp_path: Path) -> None:
    programs = sorted(PROGRAMS.glob("*.py"))
    assert len(programs) == 5
    for program in programs:
        (tmp_path / program.name).write_bytes(program.read_bytes())
    (tmp_path / "wrong.py").write_text(WRONG, "utf-8")
    settings = {"include": ["*.py"], "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    run = subprocess.run(
        [
            NODE if NODE.exists() else "node",
            PYRIGHT,
            "--pythonpath",
            sys.executable,
            "--outputjson",
            "-p",
            tmp_path,
        ],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
    )
    told = json.loads(run.stdout)
    found = [
        (Path(one["file"]).name, one["range"]["start"]["line"], one["message"])
        for one in told["generalDiagnostics"]
    ]
    assert [one for one in found if one[0] != "wrong.py"] == []
    lines = WRONG.splitlines()
    wrong = {line for name, line, _ in found if name == "wrong.py"}
    assert {lines[line] for line in wrong} == set(lines[2:])
    assert told["summary"]["filesAnalyzed"] >= 6
