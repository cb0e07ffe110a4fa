"""The architecture as a test: floors, siblings, owners of libraries, lazy tables, sizes; each failure names file:line."""

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import vespe
from vespe import lazy

PACKAGE = Path(vespe.__file__).parent
PLAN = """\
 0  errors defaults deferred nesting pointers subschemas termination conversation child_scripts
 1  digests docstrings models escaping templates schema_bounds schema_growth violations addresses bodies supervising bm25
    json_text hidden_text secret_shapes token_estimate schema_samples leftovers secret_names kit_names kit_sources serve stamps
 2  outcomes tool_templates script_metadata python_names python_types documents fields tool_fields implementations schemas
    locations process file_walk sockets slots confined redaction findings junit kit_templates kit_trees kit_limits jsonc
    toml_entries mcp_clients steps provider_settings event_stream serve.blocks lasting
 3  script_environments tooldir configuration places private_copy annotated python_classes schema_forms trees web text_search
    git_commit adapters.inner adapters.arguments positions expectations revisions schema_cases sizes tokenizer kit_archives
    kit_store kit_lock kit_folders git serve.messages serve.dialects log_file serve.lines jsonc_edits client_files mcp_definitions
    mcp_exchange
 4  annotations file_tools git_changes kits verdicts approvals project http_templates adapters.identifiers
    adapters.anthropic_blocks adapters.message_calls adapters.definitions adapters.anthropic_marks foreign schema_places
    mcp_channel kit_staging git_refs git_whole client_entries mcp_session serve.pages serve.descriptions serve.progress serve.turns
    serve.changes serve.http_gate serve.http_tokens conversation.system_prompts conversation.call_rules conversation.stops
    conversation.limits conversation.stream_pieces
 5  mcp_kept_session mcp_sessions adapters.shown adapters.openai_wire catalog scopes snapshots signatures trust adapters.anthropic_contents
    adapters.ollama_messages inclusion kit_signatures kit_links kit_packing stored_kits kit_trust git_objects mcp_kits
    conversation.stream_merging
 6  founding resolver drafts review adapters.anthropic_outbound adapters.anthropic_inbound adapters.stops lint.base lint.limits
    schema_changes kit_excess kit_origins serve.grants serve.outbox conversation.kept_answers conversation.open_calls
 7  authoring executors.base adapters.base lint.refusals compatibility strict_mode kit_review kit_fetch conversation.call_policy
    conversation.transcripts conversation.events conversation.stream_base
 8  executors.python_script executors.shell_command executors.http_request adapters.execution lint.layout lint.naming lint.schema
    lint.constraints lint.subjects lint.portability lint.strict_requests lint.vendor_subsets lint.description lint.safety
    lint.commands lint.signature lint.sets lint.shadowing substitutions tool_versions lint_paths kit_founding kit_install
    executors.mcp_tool providers.base providers.retries conversation.openai_calls conversation.claude_blocks
    conversation.stream_outcomes
 9  executors call_log workspace adapters.openai adapters.openai_responses adapters.anthropic adapters.gemini adapters.ollama
    adapters.mcp adapters.plain_text lint lint_sources lint_fixes sarif changes kit_sync kit_removal kit_changes serve.protocol
    serve.results conversation.call_results providers providers.answers providers.failures providers.scripts providers.rendering
    recording_files conversation.openai_choices conversation.claude_messages conversation.ollama_stream own_kits
10  registry adapters own_tools lint_settings kit_update serve.running serve.marks serve.shown providers.requests
    providers.endpoint providers.turns conversation.openai_stream conversation.anthropic_stream
11  calls adapters.recognition audit serve.flights providers.openai_wire providers.anthropic_wire providers.ollama_wire
    providers.accounts
12  examples library fuzzing serve.snapshot serve.http_handlers providers.openai providers.anthropic providers.ollama
    providers.simulated recordings conversation.call_checks conversation.project_policy
13  serve.tools serve.http_server conversation.turns conversation.tool_sets
14  serve.stdio conversation.waiting_calls conversation.loop conversation.handler_base
15  cli.locks serving conversation.gpt_handler conversation.claude_handler conversation.ollama_handler
16  conversation.handlers conversation.agents
17  cli.report cli.verbs __init__
18  cli.tables cli.tool_review cli.activation cli.mcp_http
19  cli.size_report cli.arguments cli.boundary cli.editor cli.kit_facts cli.options cli.findings_report
20  cli.kit_review cli.agent_shown cli.chat_lines cli.chat_commands
21  cli.agent_asking
22  cli.agent_setup
23  cli.agent_recording
24  cli.*
25  cli
26  __main__
"""
"""The floors: a line begins with a floor's number, or goes on with the floor above it."""


def floors(plan: str) -> dict[str, int]:
    found: dict[str, int] = {}
    floor = 0
    for line in plan.splitlines():
        floor = int(line[:2]) if line[:2].strip() else floor
        found.update(dict.fromkeys(line[2:].split(), floor))
    return found


FLOORS = floors(PLAN)
SCRIPTS = {"supervisor", "executors.python_child", "executors.python_values"}
"""Run in an interpreter of their own, never imported: they import nothing of vespe."""
OWNERS = {
    "click": "cli",
    "rich": "cli.tables",
    "yaml": "documents",
    "jsonschema": "schemas",
    "jsonschema_rs": "schemas",
    "referencing": "schemas",
    "platformdirs": "locations",
    "hypothesis": "fuzzing",
    "hypothesis_jsonschema": "fuzzing",
    "tiktoken": "tokenizer",
    "mcp": "serve.http_handlers mcp_session",
    "mcp_types": "serve.http_handlers mcp_session",
    "anyio": "serve.http_handlers mcp_session mcp_kept_session",
    "pydantic": "mcp_session",
    "uvicorn": "serve.http_server",
    "h11": "serve.http_server",
    "subprocess": "process",
    "httpx2": "web mcp_session",
    "httpcore2": "web",
}
CALLERS_OF_OTHERS = {"cli.boundary", "registry", "conversation.events"}
"""They run commands, tools and subscribers: code that may raise anything."""
LAZY_TABLES = {"__init__", "deferred", "cli", "executors", "providers"}
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in ("kits", "data")}
TREES = {name: ast.parse(path.read_text(encoding="utf-8"), str(path)) for name, path in MODULES.items()}


def floor_of(name: str) -> int:
    if name in FLOORS:
        return FLOORS[name]
    assert name.startswith("cli."), f"{name} has no floor: add it to FLOORS in {__file__}"
    return FLOORS["cli.*"]


def imports(name: str) -> Iterator[tuple[str, int]]:
    """Every module that `name` imports, lazily or for typing too, as (dotted name, line)."""
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{MODULES[name]}:{node.lineno}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix("vespe.")
                yield (f"vespe.{inner}" if inner in MODULES and str(node.module).startswith("vespe") else str(node.module)), node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "deferred":
            yield from ((str(a.value), node.lineno) for a in node.args if isinstance(a, ast.Constant))


def own_imports(name: str) -> Iterator[tuple[str, int]]:
    for imported, line in imports(name):
        if imported == "vespe" or imported.startswith("vespe."):
            yield imported.removeprefix("vespe").removeprefix(".") or "__init__", line


def test_every_module_imports_only_from_floors_below() -> None:
    wrong = [
        f"{MODULES[name]}:{line}: {name} (floor {floor_of(name)}) imports {imported} (floor {floor_of(imported)})"
        for name in MODULES
        if name not in SCRIPTS
        for imported, line in own_imports(name)
        if imported != "__init__" and floor_of(imported) >= floor_of(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_scripts_that_run_in_a_child_import_nothing_of_vespe() -> None:
    assert MODULES.keys() >= SCRIPTS
    wrong = [f"{MODULES[name]}:{line}" for name in SCRIPTS for _, line in own_imports(name)]
    assert not wrong, "\n".join(wrong)


def test_each_library_has_one_owner() -> None:
    wrong = [
        f"{MODULES[name]}:{line}: {name} imports {imported}, which belongs to {OWNERS[imported.partition('.')[0]]}"
        for name in MODULES
        for imported, line in imports(name)
        if (owner := OWNERS.get(imported.partition(".")[0]))
        and name not in owner.split()
        and not (owner == "cli" and name.startswith("cli."))
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_inside_functions_stand_only_in_the_lazy_tables() -> None:
    wrong = [
        f"{MODULES[name]}:{node.lineno}: import inside {function.name}"
        for name, tree in TREES.items()
        if name not in LAZY_TABLES | SCRIPTS
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
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
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "shell":
                wrong.append(f"{MODULES[name]}:{node.value.lineno}: shell=")
            if isinstance(node, ast.ExceptHandler) and _is_broad(node) and name not in SCRIPTS | CALLERS_OF_OTHERS:
                wrong.append(f"{MODULES[name]}:{node.lineno}: broad except")
    assert not wrong, "\n".join(wrong)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or (isinstance(handler.type, ast.Name) and handler.type.id in ("Exception", "BaseException"))


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield name, node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[1] if ast.get_docstring(function) is not None and len(function.body) > 1 else function.body[0]
    return (function.end_lineno or first.lineno) - first.lineno + 1


def test_modules_and_functions_keep_within_their_sizes() -> None:
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    wrong = [f"{MODULES[name]}: {length} lines" for name, length in lengths.items() if length > 400]
    wrong += [f"{MODULES[name]}:{f.lineno}: {f.name} has {n} lines" for name, f in functions() if (n := body_lines(f)) > 40]
    assert not wrong, "\n".join(wrong)
    assert statistics.median(lengths.values()) <= 120
    assert statistics.mean(body_lines(f) <= 20 for _, f in functions()) >= 0.8


def test_signatures_are_short_and_keyword_only_after_the_second_parameter() -> None:
    wrong = []
    for name, function in functions():
        if any("click" in ast.unparse(d) or "option" in ast.unparse(d) for d in function.decorator_list):
            continue
        arguments = function.args
        positional = [a.arg for a in arguments.posonlyargs + arguments.args if a.arg not in ("self", "cls")]
        if len(positional) + len(arguments.kwonlyargs) > 6:
            wrong.append(f"{MODULES[name]}:{function.lineno}: {function.name} takes more than 6 parameters")
        if len(positional) > 2 and arguments.defaults and len(positional) - len(arguments.defaults) < 2:
            wrong.append(f"{MODULES[name]}:{function.lineno}: {function.name} takes options by position")
    assert not wrong, "\n".join(wrong)


def test_every_module_says_in_one_line_what_it_is() -> None:
    assert [str(MODULES[name]) for name, tree in TREES.items() if not ast.get_docstring(tree)] == []
    assert [name for name in MODULES if name.rpartition(".")[2].strip("_") in BANNED_NAMES] == []


def test_the_table_of_deferred_modules_names_our_own_the_standard_librarys_or_those_with_an_owner() -> None:
    known = OWNERS.keys() | sys.stdlib_module_names | {"vespe"}
    assert {name for name in lazy.HEAVY if name.partition(".")[0] not in known} == set()


def test_tests_mirror_the_modules_one_to_one() -> None:
    tests = PACKAGE.parent / "tests"
    if not tests.is_dir():
        tests = Path(__file__).parent
    special = {"test_floors", "test_docs", "test_startup", "test_package", "test_isolation"}
    folders = [p for p in tests.rglob("test_*.py") if not {"acceptance", "cases", "benchmarks", "kits"} & set(p.relative_to(tests).parts)]
    seen = {".".join((*p.relative_to(tests).parts[:-1], p.stem.removeprefix("test_"))) for p in folders if p.stem not in special}
    wanted = {name.removesuffix(".__init__").strip("_") for name in MODULES} - {"init", "defaults"}
    missing = {n for n in wanted if n not in seen and f"{n}.{n.rpartition('.')[2]}" not in seen}
    unknown = {n for n in seen if n not in wanted and n.rpartition(".")[0] not in wanted}
    assert (missing, unknown) == (set(), set())
