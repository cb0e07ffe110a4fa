"""A program of a user's, as pyright sees it: the documented forms are no type errors."""

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
pytestmark = pytest.mark.skipif(
    not PYRIGHT.exists(), reason="`./dev servers` could not bring pyright: npm's registry is away"
)
PROGRAM = '''\
from vespe import (
    Agent,
    AnthropicProvider,
    OllamaProvider,
    OpenAIProvider,
    SimulatedProvider,
    Toolset,
    tool,
)


@tool(read_only=True)
def search(query: str, limit: int = 5) -> list[str]:
    """Search the notes."""
    return [query] * limit


tools = Toolset(search, approve="all")
found: list[str] = search("x", limit=2)
for model in (OpenAIProvider("m"), AnthropicProvider("m"), OllamaProvider("m")):
    Agent(model, tools=tools)
Agent(SimulatedProvider({"turns": []}), tools=tools).run("x")
'''


def test_the_documented_forms_are_no_type_errors(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    settings = {"include": ["program.py"], "extraPaths": [str(ROOT)]}
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
    assert [one["message"] for one in told["generalDiagnostics"]] == []
    assert told["summary"]["filesAnalyzed"] >= 1
