"""Start-up is a feature: which modules each command must not import. Times are for
tests/benchmarks/.
"""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import vespe
from tests.support.ondisk import python_tool, write_tool

NEVER_FOR_A_LISTING = {
    "git",
    "jsonschema",
    "httpx2",
    "httpcore2",
    "asyncio",
    "rich",
    "pydantic",
    "subprocess",
    "yaml",
    "importlib.metadata",
    "hashlib",
    "email.utils",
    "packaging",
}
NOT_FOR_A_CALL = {
    "httpx2",
    "httpcore2",
    "asyncio",
    "jsonschema",
    "rich",
    "git",
    "yaml",
    "pydantic",
    "socket",
    "tempfile",
}
NOT_FOR_A_CALL |= {
    "hashlib",
    "email.utils",
    "packaging",
    "bz2",
    "vespe.adapters",
    "vespe.calls.kept_policies",
    "vespe.calls.program_place",
    "vespe.cli.questions",
    "vespe.documents.redaction",
    "vespe.files.kept_directories",
    "vespe.files.watch",
    "vespe.processes.keeper",
    "vespe.schemas.answers",
    "vespe.features.examples.examples",
}
PROBE = """
import json, sys
from vespe.cli import main
code = main(sys.argv[1:])
sys.stdout.flush()
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


def modules_of(*arguments: str, cwd: Path) -> set[str]:
    """Run one command, without what measuring its coverage brings along, and give the modules that
    were loaded at its end.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.fixture
def stocked(project: Path) -> Path:
    for number in range(3):
        python_tool(project / f".vespe/tools/tool-n{number}", f"n{number}", "return 1")
    return project


@pytest.mark.parametrize(
    "arguments", [("--version",), ("--help",), ("tool", "--help")], ids=" ".join
)
def test_a_page_of_help_loads_no_verb(
    arguments: tuple[str, ...], tmp_path: Path, home: Path
) -> None:
    loaded = modules_of(*arguments, cwd=tmp_path)
    assert not loaded & (
        NEVER_FOR_A_LISTING
        | {"jsonschema_rs", "vespe.calls.path", "vespe.tools.directory", "hashlib"}
    )


def test_listing_loads_neither_git_nor_jsonschema_nor_http_nor_asyncio_nor_rich_nor_pydantic(
    stocked: Path,
) -> None:
    assert not modules_of("tool", "list", cwd=stocked) & NEVER_FOR_A_LISTING


def test_a_second_listing_judges_no_schema_again(stocked: Path) -> None:
    modules_of("tool", "list", cwd=stocked)
    judges = {"jsonschema_rs", "vespe.schemas", "vespe.tools.fields", "vespe.tools.judging"}
    assert not modules_of("tool", "list", cwd=stocked) & judges


def test_running_a_program_loads_no_http_client_no_event_loop_and_no_models(
    stocked: Path,
) -> None:
    implementation = {"type": "shell_command", "entrypoint": "true", "args": {"argv": []}}
    write_tool(stocked / ".vespe/tools/tool-true", "say_nothing", implementation=implementation)
    loaded = modules_of("tool", "run", "say_nothing", cwd=stocked)
    assert not loaded & NOT_FOR_A_CALL
    assert not modules_of("tool", "run", "n0", cwd=stocked) & NOT_FOR_A_CALL


def test_serving_over_stdio_loads_neither_the_sdk_nor_pydantic_nor_an_event_loop(
    stocked: Path,
) -> None:
    loaded = modules_of("mcp", "serve", cwd=stocked)
    assert (
        loaded
        & (
            NEVER_FOR_A_LISTING
            | {"base64", "random", "vespe.calls.bridge", "vespe.tools.search"}
            | {"vespe.features.mcp.server.skills", "vespe.kits.mcp_snapshots"}
            | {"mcp", "mcp_types", "anyio", "starlette", "uvicorn", "ssl", "tempfile"}
        )
        == set()
    )


@pytest.mark.parametrize(
    "arguments", [("tool", "list"), ("tool", "run", "n0"), ("mcp", "serve")], ids=" ".join
)
def test_a_command_compiles_no_pattern_while_it_imports(
    arguments: tuple[str, ...], stocked: Path
) -> None:
    compiled = [
        f"{name}:{call.lineno}"
        for name in modules_of(*arguments, cwd=stocked)
        if name.startswith("vespe.") and (file := _source_of(name)) is not None
        for call in _made_at_import(ast.parse(file.read_text(encoding="utf-8")))
        if ast.unparse(call.func) == "re.compile"
    ]
    assert compiled == [], "use vespe.lazy.pattern"


def _source_of(name: str) -> Path | None:
    place = Path(vespe.__file__).parent.joinpath(*name.split(".")[1:])
    return next(
        (one for one in (place.with_suffix(".py"), place / "__init__.py") if one.exists()), None
    )


def _made_at_import(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if isinstance(child, ast.Call):
                yield child
            yield from _made_at_import(child)


def test_the_package_itself_loads_nothing_until_a_name_is_used() -> None:
    code = "import sys, vespe; print(sorted(m for m in sys.modules if m.startswith('vespe.')))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "['vespe.defaults', 'vespe.features']"


def test_a_program_that_only_calls_loads_nothing_that_reads_or_writes_python() -> None:
    python = "('vespe.tools.python', 'vespe.tools.drafts')"
    code = (
        "import sys; from vespe import Project; print([m for m in sys.modules if "
        f"m.startswith({python})])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "[]"


def test_serving_over_stdio_loads_no_other_vendor_no_git_and_no_index_of_words(
    stocked: Path,
) -> None:
    unneeded = {
        "vespe.adapters.anthropic",
        "vespe.adapters.gemini",
        "vespe.adapters.ollama",
        "vespe.adapters.openai",
        "vespe.kits.archives",
        "sqlite3",
        "ipaddress",
        "asyncio",
        "mcp",
    }
    modules_of("mcp", "serve", cwd=stocked)  # the first run keeps what it has judged
    assert not modules_of("mcp", "serve", cwd=stocked) & unneeded
