"""A type of tools is one place: no module decides by its name, and few write it."""

import ast
from functools import cache
from pathlib import Path

import vespe
from vespe.tool_types import TYPES

PACKAGE = Path(vespe.__file__).parent
WRITERS = {
    "tool_types.py": "the table",
    "cli/tool/create.py": "`--url` alone makes an http_request",
    "features/imports/llm_functions.py": "makes tools",
    "features/imports/openapi/operations.py": "makes tools",
    "features/imports/skills.py": "makes tools",
    "features/imports/utcp.py": "makes tools",
    "features/mcp/verbs/wrap.py": "makes a tool of the server that it wraps",
    "kits/create.py": "makes the first tool of a kit",
    "kits/mcp_kits.py": "makes tools",
    "models.py": "the templates, for type checkers",
    "tools/drafts.py": "`--from` makes a python_script",
    "tools/in_place.py": "makes tools",
    "types/wasm/execution.py": "the name of the extra",
}
"""Every module that has the name of a type as a string, and why."""


@cache
def trees() -> dict[Path, ast.Module]:
    return {
        path.relative_to(PACKAGE): ast.parse(path.read_text(encoding="utf-8"))
        for path in PACKAGE.rglob("*.py")
    }


def test_at_most_thirteen_modules_write_the_name_of_a_type() -> None:
    found = {
        str(path)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in TYPES
    }
    assert found <= WRITERS.keys(), "ask the type (`vespe/tool_types.py`), or say why it is written"
    assert len(WRITERS) <= 13


def test_no_comparison_has_the_name_of_a_type() -> None:
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.Compare, ast.MatchValue))
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and part.value in TYPES
    ]
    assert wrong == []
