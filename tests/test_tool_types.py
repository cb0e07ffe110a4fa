"""The table knows the types that the design names, and mypy sees that each is whole."""

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import render_schema
from vespe.tool_types import TYPES, type_of


def test_the_types_of_implementation_are_in_the_table() -> None:
    assert list(TYPES) == [
        "python_script",
        "shell_command",
        "http_request",
        "mcp_tool",
        "wasm",
        "rust_function",
    ]


def test_the_published_schema_is_put_together_from_the_forms_of_the_types() -> None:
    published = render_schema.PUBLISHED.read_text(encoding="utf-8")
    assert published == render_schema.made(), "run `./dev docs`"


def test_a_name_that_is_no_type_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        type_of("shell")


@pytest.mark.parametrize("name", TYPES)
def test_each_row_names_a_value_that_mypy_holds_to_the_protocol(name: str) -> None:
    module, _, attribute = TYPES[name].rpartition(".")
    found = importlib.util.find_spec(module)
    assert found is not None and found.origin is not None
    tree = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
    assert f"{attribute}: Final[ToolType]" in [
        ast.unparse(node).partition(" =")[0]
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
    ]
    assert type_of(name) is type_of(name)


@pytest.mark.parametrize("name", TYPES)
def test_to_know_a_type_imports_neither_what_runs_it_nor_another_type(name: str) -> None:
    code = (
        "import json, sys; from vespe.tool_types import type_of; "
        f"type_of({name!r}); print(json.dumps([m for m in sys.modules if 'vespe.types.' in m]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert json.loads(done.stdout) == [TYPES[name].rpartition(".")[0]]
