"""The architecture as a test: floors, siblings, owners of libraries, lazy tables, sizes; each
failure names file:line.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import vespe
from tests.support import render_architecture
from tests.support.floors import FLOORS
from vespe import lazy

PACKAGE = Path(vespe.__file__).parent
SCRIPTS = {
    "processes.supervisor",
    "processes.sandbox.enter",
    "processes.zygote",
    "calls.executors.python_child",
    "calls.executors.python_values",
    "calls.executors.wasm.child",
}
"""Run in an interpreter of their own, never imported: they import nothing of vespe."""
OWNERS = {
    "click": "cli",
    "rich": "cli.tables",
    "yaml": "documents.safe_yaml",
    "jsonschema": "schemas.reference",
    "jsonschema_specifications": "schemas.reference",
    "referencing": "schemas.reference",
    "distributed": "calls.batch.dask_cluster",
    "ray": "calls.batch.ray_cluster",
    "wasmtime": "calls.executors.wasm.child",
    "jsonschema_rs": "schemas.validator",
    "packaging": "tools.python.script_metadata",
    "tomlkit": "documents.toml",
    "platformdirs": "files.locations",
    "hypothesis": "calls.fuzzing",
    "hypothesis_jsonschema": "calls.fuzzing",
    "tiktoken": "adapters.cost",
    "mcp": "mcp_server.http_handlers calls.executors.mcp.session",
    "mcp_types": "mcp_server.http_handlers calls.executors.mcp.session",
    "anyio": "mcp_server.http_handlers calls.executors.mcp.session calls.executors.mcp.kept_session",
    "pydantic": "calls.executors.mcp.session",
    "uvicorn": "http.server",
    "h11": "http.server",
    "jinja2": "cli.inspect.rendering",
    "markupsafe": "cli.inspect.rendering",
    "subprocess": "processes.process",
    "agents": "agents.toolsets.to_openai_agents",
    "langchain_core": "agents.toolsets.to_langchain",
    "pytest": "testing.plugin",
    "pydantic_ai": "agents.toolsets.to_pydantic_ai",
    "httpx2": "http.client calls.executors.mcp.session",
    "httpcore2": "http.client",
    "opentelemetry": "calls.otlp calls.tracing",
}
CALLERS_OF_OTHERS = {"cli.boundary", "calls.in_process", "agents.events"}
"""They run commands, tools and subscribers: code that may raise anything."""
LAZY_TABLES = {
    "__init__",
    "lazy",
    "moved",
    "cli",
    "calls.executors",
    "agents.providers",
    "cli.inspect.site",
}
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {
    module_name(path): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.relative_to(PACKAGE).parts[0] != "data"
}


@cache
def trees() -> dict[str, ast.Module]:
    return {
        name: ast.parse(path.read_text(encoding="utf-8"), str(path))
        for name, path in MODULES.items()
    }


def pages() -> set[str]:
    """Return the packages whose `__init__` is its docstring alone."""
    return {
        name
        for name, tree in trees().items()
        if MODULES[name].name == "__init__.py" and len(tree.body) == 1
    }


def room_of(name: str) -> str:
    return name.partition(".")[0]


ROOM_FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms.split()}


def imports(name: str, within: ast.AST | None = None) -> Iterator[tuple[str, int]]:
    """Every module that `name` imports, lazily or for typing too, as (dotted name, line); with
    `within`, only there.
    """
    for node in ast.walk(within or trees()[name]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{MODULES[name]}:{node.lineno}: relative import"
            for alias in node.names:
                if node.module == "vespe.lazy":
                    yield lazy.LIBRARIES.get(alias.name, "vespe.lazy"), node.lineno
                inner = f"{node.module}.{alias.name}".removeprefix("vespe.")
                yield (
                    (
                        f"vespe.{inner}"
                        if inner in MODULES and str(node.module).startswith("vespe")
                        else str(node.module)
                    ),
                    node.lineno,
                )


@cache
def loaded_with(name: str) -> frozenset[str]:
    """Every module of vespe that importing `name` loads, itself included."""
    found, waiting = {name}, [name]
    while waiting:
        new = loaded_by(waiting.pop()) - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def loaded_by(name: str) -> frozenset[str]:
    """Every module of vespe that a module imports at its top."""
    nodes = [node for node in trees()[name].body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return (
        frozenset(
            imported.removeprefix("vespe.") for node in nodes for imported, _ in imports(name, node)
        )
        & MODULES.keys()
    )


def own_imports(name: str) -> Iterator[tuple[str, int]]:
    for imported, line in imports(name):
        if imported == "vespe" or imported.startswith("vespe."):
            yield imported.removeprefix("vespe").removeprefix(".") or "__init__", line


def test_everything_directly_in_the_package_has_a_floor() -> None:
    assert {room_of(name) for name in MODULES} == ROOM_FLOOR.keys()


def test_a_package_imports_only_from_floors_below_its_own() -> None:
    wrong = [
        f"{MODULES[name]}:{line}: {room_of(name)} imports {imported}"
        for name in MODULES
        for imported, line in own_imports(name)
        if imported != "__init__" and room_of(imported) != room_of(name)
        if ROOM_FLOOR[room_of(imported)] >= ROOM_FLOOR[room_of(name)] > 0
    ]
    assert not wrong, "\n".join(wrong)


def test_no_modules_import_one_another_in_a_circle() -> None:
    graph = {
        name: {imported for imported, _ in own_imports(name) if imported not in ("__init__", name)}
        for name in MODULES
    }
    while ready := [name for name, needed in graph.items() if not needed & graph.keys()]:
        for name in ready:
            del graph[name]
    assert graph == {}


def test_folders_stay_small_enough_to_be_seen() -> None:
    rooms = {room_of(name) for name in MODULES}
    packages = {room for room in rooms if (PACKAGE / room).is_dir()}
    assert len(rooms - packages) <= 8
    assert len(packages) <= 18
    folders = [path for path in PACKAGE.rglob("*") if path.is_dir()]
    assert [
        folder for folder in folders if len(list(folder.glob("*.py"))) > 26
    ] == []  # 25 modules and their __init__


def test_scripts_that_run_in_a_child_import_nothing_of_vespe() -> None:
    assert MODULES.keys() >= SCRIPTS
    wrong = [f"{MODULES[name]}:{line}" for name in SCRIPTS for _, line in own_imports(name)]
    assert not wrong, "\n".join(wrong)


def test_each_library_has_one_owner() -> None:
    wrong = [
        f"{MODULES[name]}:{line}: {name} imports {imported}, which belongs to {OWNERS[imported.partition('.')[0]]}"
        for name in MODULES.keys() - {"lazy"}
        for imported, line in imports(name)
        if (owner := OWNERS.get(imported.partition(".")[0]))
        and name not in owner.split()
        and not (owner == "cli" and name.startswith("cli."))
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_inside_functions_are_of_what_start_up_would_not_load_otherwise() -> None:
    """Without a table: such an import earns its place if the module does not come with what its own
    module imports at the top.
    """
    wrong = [
        f"{MODULES[name]}:{line}: import of {imported} inside {function.name}: move it to the top"
        for name in MODULES.keys() - LAZY_TABLES - SCRIPTS
        for function in ast.walk(trees()[name])
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for imported, line in imports(name, function)
        if imported.removeprefix("vespe.") not in MODULES.keys() - loaded_with(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_loads_another_by_a_computed_name() -> None:
    wrong = [
        f"{MODULES[name]}:{line}: {name} imports importlib" for name in MODULES for imported, line in imports(name)
        if imported.partition(".")[0] == "importlib" and name not in LAZY_TABLES | SCRIPTS
    ]  # fmt: skip
    assert not wrong, "\n".join(wrong)


def test_no_shell_string_and_no_broad_except_stand_in_the_package() -> None:
    wrong = []
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "shell":
                wrong.append(f"{MODULES[name]}:{node.value.lineno}: shell=")
            if (
                isinstance(node, ast.ExceptHandler)
                and _is_broad(node)
                and name not in SCRIPTS | CALLERS_OF_OTHERS
            ):
                wrong.append(f"{MODULES[name]}:{node.lineno}: broad except")
    assert not wrong, "\n".join(wrong)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or (
        isinstance(handler.type, ast.Name) and handler.type.id in ("Exception", "BaseException")
    )


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield name, node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = (
        function.body[1]
        if ast.get_docstring(function) is not None and len(function.body) > 1
        else function.body[0]
    )
    return (function.end_lineno or first.lineno) - first.lineno + 1


def test_functions_keep_within_their_size() -> None:
    wrong = [
        f"{MODULES[name]}:{f.lineno}: {f.name} has {n} lines"
        for name, f in functions()
        if (n := body_lines(f)) > 70
    ]
    assert not wrong, "\n".join(wrong)


AGREED = ("create_tool", "agents.agent.__init__")
"""Functions whose signatures were agreed upon with those who call them:
`create_tool(name, schema, implementation_details)`, `Agent(…)`.
"""


def test_signatures_are_short_and_keyword_only_after_the_second_parameter() -> None:
    wrong = []
    for name, function in functions():
        if (
            function.name in AGREED
            or f"{name}.{function.name}" in AGREED
            or any(
                "click" in ast.unparse(d) or "option" in ast.unparse(d)
                for d in function.decorator_list
            )
        ):
            continue
        arguments = function.args
        positional = [
            a.arg for a in arguments.posonlyargs + arguments.args if a.arg not in ("self", "cls")
        ]
        if len(positional) + len(arguments.kwonlyargs) > 6:
            wrong.append(
                f"{MODULES[name]}:{function.lineno}: {function.name} takes more than 6 parameters"
            )
        if (
            len(positional) > 2
            and arguments.defaults
            and len(positional) - len(arguments.defaults) < 2
        ):
            wrong.append(
                f"{MODULES[name]}:{function.lineno}: {function.name} takes options by position"
            )
    assert not wrong, "\n".join(wrong)


def test_every_module_says_in_one_line_what_it_is() -> None:
    assert [
        str(MODULES[name]) for name, tree in trees().items() if not ast.get_docstring(tree)
    ] == []
    assert [name for name in MODULES if name.rpartition(".")[2].strip("_") in BANNED_NAMES] == []


def test_the_lazy_libraries_are_the_standard_librarys_or_have_an_owner() -> None:
    known = OWNERS.keys() | sys.stdlib_module_names
    assert {
        name for name in lazy.LIBRARIES.values() if name.partition(".")[0] not in known
    } == set()


def test_every_module_has_a_test_of_its_name_in_the_same_place() -> None:
    tests = Path(__file__).parent
    seen = {
        ".".join((*p.relative_to(tests).parts[:-1], p.stem.removeprefix("test_")))
        for p in tests.rglob("test_*.py")
    }
    wanted = (
        {name.removesuffix(".__init__").strip("_") for name in MODULES}
        - {"init", "defaults"}
        - pages()
    )
    missing = {
        name
        for name in wanted
        if name not in seen and f"{name}.{name.rpartition('.')[2]}" not in seen
    }
    assert missing == set()


def test_the_picture_of_the_floors_is_drawn_from_the_table() -> None:
    drawn = render_architecture.PICTURE.read_text(encoding="utf-8")
    assert drawn == render_architecture.draw(), (
        "run `./dev docs`: it draws docs/architecture.svg anew"
    )


def test_the_picture_of_a_calls_way_shows_the_stops_of_the_page() -> None:
    assert len(render_architecture.stops()) == 10
    assert all(
        (render_architecture.ROOT / "vespe" / module).exists()
        for _, module in render_architecture.stops()
    )
    assert render_architecture.WAY.read_text(encoding="utf-8") == render_architecture.draw_way(), (
        "run `./dev docs`"
    )
