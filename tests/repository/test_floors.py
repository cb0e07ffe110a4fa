"""The architecture as a test: floors, siblings, owners of libraries, lazy tables, sizes; each
failure names file:line.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeGuard
from xml.etree import ElementTree

import pytest

import vespe
from tests.support import render_architecture
from tests.support.floors import FLOORS
from vespe import lazy

PACKAGE = Path(vespe.__file__).parent
SCRIPTS = {
    "processes.supervisor",
    "processes.sandbox.enter",
    "processes.zygote",
    "types.python_script.child",
    "types.python_script.values",
    "types.wasm.child",
    "features.secrets.keyring_child",
    "features.escapes.attempts",
    "features.escapes.guard",
}
"""Run in an interpreter of their own, never imported: they import nothing of vespe."""
OWNERS = {
    "click": "cli features",
    "rich": "cli.tables",
    "yaml": "documents.safe_yaml",
    "jsonschema": "schemas.reference",
    "jsonschema_specifications": "schemas.reference",
    "referencing": "schemas.reference",
    "dask": "features.batch.dask_cluster",
    "distributed": "features.batch.dask_cluster",
    "ray": "features.batch.ray_cluster",
    "wasmtime": "types.wasm.child",
    "jsonschema_rs": "schemas.validator",
    "packaging": "tools.python.script_metadata",
    "tomlkit": "documents.toml",
    "platformdirs": "files.locations",
    "hypothesis": "features.examples.fuzzing",
    "hypothesis_jsonschema": "features.examples.fuzzing",
    "tiktoken": "adapters.cost",
    "mcp": "types.mcp_tool.session types.mcp_tool.line_bridge types.mcp_tool.server_tasks types.mcp_tool.server_skills features.oauth.sdk",
    "mcp_types": "types.mcp_tool.session types.mcp_tool.line_bridge types.mcp_tool.server_tasks types.mcp_tool.server_skills "
    "types.mcp_tool.strict_http",
    "anyio": "types.mcp_tool.session types.mcp_tool.line_bridge types.mcp_tool.server_tasks types.mcp_tool.kept_session",
    "pydantic": "types.mcp_tool.session types.mcp_tool.server_tasks features.oauth.sdk",
    "uvicorn": "http.server",
    "h11": "http.server",
    "git": "git.author_repository",
    "keyring": "features.secrets.keyring_child",
    "jinja2": "features.inspector.rendering",
    "markupsafe": "features.inspector.rendering",
    "subprocess": "processes.process processes.detached features.escapes.attempts",
    "agents": "features.agents.toolsets.to_openai_agents",
    "langchain_core": "features.agents.toolsets.to_langchain",
    "pytest": "features.testing.plugin",
    "pydantic_ai": "features.agents.toolsets.to_pydantic_ai",
    "httpx2": "http.client types.mcp_tool.session types.mcp_tool.strict_http "
    "types.mcp_tool.line_bridge features.oauth.sdk "
    "features.oauth.transport",
    "httpcore2": "http.client",
    "opentelemetry": "calls.otlp calls.tracing",
    "pydantic_monty": "features.programs.interpreter features.programs.running "
    "features.programs.checking",
}
CALLERS_OF_OTHERS = {
    "cli.boundary",
    "calls.in_process",
    "features.agents.events",
    "features.mcp.server.protocol",
    "features.mcp.server.marks",
    "features.mcp.verbs.wrap",
}
"""They run commands, tools and subscribers: code that may raise anything; and a server, whose
clients would wait forever for an answer, as a process does that asks for a new token.
"""
LAZY_TABLES = {
    "adapters",
    "features",
    "cli.diagnosis",
    "__init__",
    "lazy",
    "cli",
    "tool_types",
    "features.agents.providers",
    "features.inspector.site",
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
    """Return what a module belongs to; the table of features lies on the ground, features on top."""
    room, _, rest = name.partition(".")
    return "features/" if room == "features" and rest else room


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


UPWARDS = {
    "adapters": "its own vendors",
    "tool_types": "the types of tools, which `type_of` imports by name",
    "features": "the features, which the command line and the library import by name",
    "features.agents.providers": "its own providers",
    "cli.verbs": "the command line's own verbs",
}
"""The tables that name modules as strings, which `importlib` then imports."""


def test_modules_of_the_same_floor_or_above_are_named_by_the_tables_alone() -> None:
    wrong = [
        f"{MODULES[name]}:{node.lineno}: {node.value}"
        for name in MODULES.keys() - UPWARDS.keys() - {"__init__", "lazy"} - SCRIPTS
        for node in ast.walk(trees()[name])
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value.startswith("vespe.")
        and (named := node.value.removeprefix("vespe.").partition(":")[0]) in MODULES
        and ROOM_FLOOR[room_of(named)] >= ROOM_FLOOR[room_of(name)]
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


def test_scripts_that_run_in_a_child_import_nothing_of_vespe() -> None:
    assert MODULES.keys() >= SCRIPTS
    wrong = [f"{MODULES[name]}:{line}" for name in SCRIPTS for _, line in own_imports(name)]
    assert not wrong, "\n".join(wrong)


def test_each_library_has_one_owner() -> None:
    wrong = [
        f"{MODULES[name]}:{line}: {name} imports {imported}, "
        f"which belongs to {OWNERS[imported.partition('.')[0]]}"
        for name in MODULES.keys() - {"lazy"}
        for imported, line in imports(name)
        if (owner := OWNERS.get(imported.partition(".")[0]))
        and name not in owner.split()
        and not name.startswith(
            tuple(f"{one}." for one in owner.split() if one in ("cli", "features"))
        )
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


DOORS = {
    "_ctypes": "what `ctypes` is made of: 4 ms less for each process of a tool",
    "_json": "what `json` is made of: 8 ms less for each process of a tool",
    "_sha2": "what `hashlib` is made of: 3 ms less for each command",
    "_sha256": "the same before Python 3.12",
    "_signal": "what `signal` is made of: 4 ms less for each process of a tool",
    "_socket": "what `socket` is made of: 8 ms less for each process of a tool",
    "_thread": "documented: https://docs.python.org/3/library/_thread.html",
    "os._exit": "documented: https://docs.python.org/3/library/os.html#os._exit",
    "types.python_script.child _run_exitfuncs": "`_finish` says why",
    "types.wasm.child _ffi _func _context _instance _from_ptr": "`Binding` says why",
    "processes.sandbox.enter _SimpleCData": "the numbers of `_ctypes`",
}
"""Private names of others that are used all the same, everywhere or in the one module that is named
before them.
"""
OF_NAMED_TUPLES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
"""Documented: https://docs.python.org/3/library/collections.html#collections.somenamedtuple._make"""


def _is_private(name: str) -> bool:
    return name.startswith("_") and name.strip("_") != "" and not name.endswith("__")


@cache
def _own_names(name: str) -> frozenset[str]:
    """Every name that a module gives to something: functions, classes, variables, attributes."""
    found = set()
    for node in ast.walk(trees()[name]):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return frozenset(found)


@cache
def _inherited() -> frozenset[str]:
    return frozenset(own for name in MODULES for own in _own_names(name))


def _is_self(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return isinstance(called, ast.Name) and called.id in ("self", "cls", "super")


def _private_names(name: str) -> Iterator[tuple[str, int]]:
    """Every private name that a module uses and that nothing of vespe has given; `a._b` may be an
    inherited one only on `self`, `cls` or `super()`.
    """
    for node in ast.walk(trees()[name]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not str(node.module).startswith("vespe"):
            yield str(node.module), node.lineno
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.Attribute) and _is_private(node.attr):
            if node.attr not in (_inherited() if _is_self(node.value) else _own_names(name)):
                whole = ast.unparse(node)
                yield whole if whole in DOORS else node.attr, node.lineno
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "hasattr", "setattr", "delattr")
            and isinstance(node.args[1], ast.Constant)
            and node.args[1].value not in _own_names(name)
        ):
            yield str(node.args[1].value), node.lineno


def test_no_private_name_of_another_library_is_used() -> None:
    named = {tuple(key.split()) for key in DOORS if " " in key}
    wrong = [
        f"{MODULES[name]}:{line}: {used} is private: use a public name, or say in DOORS why not"
        for name in MODULES
        for used, line in _private_names(name)
        if any(map(_is_private, used.split("."))) and used not in DOORS.keys() | OF_NAMED_TUPLES
        if not any(module == name and used in names for module, *names in named)
    ]
    assert not wrong, "\n".join(wrong)


ONE_MEANING = {"Sessions"}
"""Names of a protocol and of the one class that keeps to it."""


def test_a_class_that_another_package_imports_has_its_name_alone() -> None:
    """One name, one meaning: classes with a `_`, and those of scripts that nobody imports, are not
    asked, nor those that only their own package knows.
    """
    owners: dict[str, set[str]] = {}
    for name in MODULES.keys() - SCRIPTS:
        for node in ast.walk(trees()[name]):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                owners.setdefault(node.name, set()).add(name)
    wrong = {
        f"{used}: {', '.join(sorted(owners[used]))}"
        for name in MODULES
        for module, used in _names_from_others(name)
        if used not in ONE_MEANING and module in owners.get(used, ()) and len(owners[used]) > 1
    }
    assert not wrong, "\n".join(sorted(wrong))


def _package_of(name: str) -> str:
    return ".".join(name.split(".")[: 2 if name.startswith("features.") else 1])


def _names_from_others(name: str) -> Iterator[tuple[str, str]]:
    """Every name that a module takes from a module of another package, as (module, name)."""
    modules: dict[str, str] = {}
    for node in ast.walk(trees()[name]):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("vespe."):
            module = str(node.module).removeprefix("vespe.")
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{module}.{alias.name}"
                if _package_of(module) != _package_of(name):
                    yield module, alias.name
    for node in ast.walk(trees()[name]):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id, "")
            if module in MODULES and _package_of(module) != _package_of(name):
                yield module, node.attr


def test_no_module_loads_another_by_a_computed_name() -> None:
    wrong = [
        f"{MODULES[name]}:{line}: {name} imports importlib"
        for name in MODULES
        for imported, line in imports(name)
        if imported.partition(".")[0] == "importlib" and name not in LAZY_TABLES | SCRIPTS
    ]
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


def test_functions_keep_within_fifty_lines() -> None:
    """A function's lines are those of its body: neither its signature nor click's decorators."""
    wrong = [
        f"{MODULES[name]}:{f.lineno}: {f.name} has {n} lines"
        for name, f in functions()
        if (n := body_lines(f)) > 50
    ]
    assert not wrong, "\n".join(wrong)


AGREED = ("create_tool", "features.agents.agent.__init__")
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


TESTS = Path(__file__).parents[1]
OF_THE_WHOLE = {
    "acceptance",
    "benchmarks",
    "cases",
    "compatibility",
    "repository",
    "shipped_kits",
    "support",
}
"""Folders of tests that are about no single module; every other one mirrors a package."""


def test_every_module_has_a_test_of_its_name_in_the_same_place() -> None:
    seen = {
        ".".join((*path.relative_to(TESTS).parts[:-1], path.stem.removeprefix("test_")))
        for path in TESTS.rglob("test_*.py")
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


def test_every_test_file_bears_the_name_of_a_module_in_the_same_place() -> None:
    """`test_MODULE.py` or `test_MODULE_TOPIC.py`; a package's own tests bear the package's name."""
    named = {(*name.split(".")[:-1], name.rpartition(".")[2].strip("_")) for name in MODULES}
    wrong = []
    for path in TESTS.rglob("test_*.py"):
        *folder, _ = path.relative_to(TESTS).parts
        if folder and folder[0] in OF_THE_WHOLE:
            continue
        known = {one[-1] for one in named if list(one[:-1]) == folder} | set(folder[-1:])
        stem = path.stem.removeprefix("test_")
        if not any(stem == one or stem.startswith(f"{one}_") for one in known):
            wrong.append(str(path))
    assert not wrong, "\n".join(wrong)


def test_no_test_uses_a_library_of_mocks_or_replaces_a_function_of_ours() -> None:
    """`monkeypatch.setattr` may set a limit of ours (a constant), or make the system fail."""
    wrong = []
    for path in sorted(TESTS.rglob("*.py")):
        if "cases" in path.relative_to(TESTS).parts:
            continue
        source = path.read_text(encoding="utf-8")
        if "mock" not in source and "setattr" not in source:
            continue
        tree = ast.parse(source)
        ours = _names_of_ours(tree)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and "mock" in ast.unparse(node):
                wrong.append(f"{path}:{node.lineno}: {ast.unparse(node)}")
            if _is_replacing(node):
                place, _, name = _target(node).rpartition(".")
                if place.partition(".")[0] in ours and not name.strip("_").isupper():
                    wrong.append(f"{path}:{node.lineno}: replaces {place}.{name}")
    assert not wrong, "\n".join(wrong)


def _is_replacing(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "setattr"
        and ast.unparse(node.func).endswith("patch.setattr")
    )


def _names_of_ours(tree: ast.Module) -> set[str]:
    """Return the names by which a module knows parts of Vespe."""
    return {"vespe"} | {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "vespe"
        for alias in node.names
    }


def _target(call: ast.Call) -> str:
    """Return what a `setattr` replaces, as a dotted name; its place may be a string too."""
    first, *rest = call.args
    if isinstance(first, ast.Constant) and len(call.args) == 2:
        return str(first.value)
    second = rest[0]
    name = str(second.value) if isinstance(second, ast.Constant) else "?"
    return f"{ast.unparse(first)}.{name}"


@pytest.mark.parametrize("picture", sorted((TESTS.parent / "docs").rglob("*.svg")), ids=str)
def test_every_picture_of_the_docs_is_whole(picture: Path) -> None:
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


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
