"""Tools of 0.2, of every type, are listed, shown to models, run, tested and linted."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from tests.compatibility.world import FILES, World, edit, read, write
from tests.support.loopback import Exchange, Loopback
from vespe import Project, ToolImplementationNotFound, ToolRegistry

TYPES = {
    "calc": "python_script",
    "count_lines": "shell_command",
    "edit_distance": "wasm",
    "get_price": None,
    "new_name": "shell_command",
    "note": "python_script",
    "price": None,
    "shout": "shell_command",
    "signed": "python_script",
    "stock": "shell_command",
    "word_count": "rust_function",
}
SIGNED = hashlib.sha256(b"the key of the shopx").hexdigest()[:8]
RUNS: dict[str, tuple[dict[str, Any], Any]] = {
    "calc": ({"a": 6, "b": 7, "op": "mul"}, 42),
    "count_lines": ({"text": "a\nb"}, {"lines": 2}),
    "edit_distance": (
        {"before": "kitten", "after": "sitting"},
        {"distance": 3, "similarity": 0.5714},
    ),
    "example_of_linked": ({"text": "a b"}, {"characters": 3, "words": 2, "lines": 1}),
    "example_of_tides": ({"text": "a b"}, {"characters": 3, "words": 2, "lines": 1}),
    "new_name": ({"text": "a"}, "a"),
    "note": ({"text": "a"}, 1),
    "shout": ({"text": "a"}, "[a]"),
    "signed": ({"text": "x"}, SIGNED),
    "stock": ({"item": "pen"}, 3),
}
COPIES = (
    "disk_usage",
    "edit_file_with_git",
    "git_blame",
    "git_diff",
    "git_grep",
    "git_show",
    "git_status",
    "list_directory",
    "read_file",
    "search_text",
    "write_file_with_git",
)
TESTED = ("calc", "count_lines", "shout", "edit_distance", "word_count")
SCHEMAS = {
    "tool": [
        ".vespe/tools/*/config.json",
        "desk/*/config.json",
        "pets/*/config.json",
        "own_kit/*/config.json",
    ],
    "kit": ["desk/kit_config.json", "pets/kit_config.json", "own_kit/kit_config.json"],
    "project": [".vespe/config.json"],
    "user": ["config/vespe/config.json"],
    "lock": ["kits.lock.json"],
    "script": ["shop/script.json", "shop/*.script.json"],
}


def test_every_tool_is_listed_with_its_uid_and_its_type(frozen: World) -> None:
    rows = [
        tool
        for tool in frozen.start("tool", "list", "--json").document["tools"]
        if tool["scope"] == "project_tools"
    ]
    assert {tool["name"]: tool["type"] for tool in rows} == TYPES
    uids = {tool["name"]: tool["uid"] for tool in rows}
    assert uids == {
        name: "tool-old_name" if name == "new_name" else f"tool-{name}" for name in TYPES
    }
    assert all((tool["status"], tool["problem"]) == ("available", None) for tool in rows)


def test_every_type_of_tool_runs_under_the_approval_of_then(at_home: World) -> None:
    project = Project(".")
    try:
        outcomes = {name: project.execute_tool(name, given) for name, (given, _) in RUNS.items()}
    finally:
        project.close()
    assert {name: outcome.unwrap() for name, outcome in outcomes.items()} == {
        name: wanted for name, (_, wanted) in RUNS.items()
    }


def test_what_the_commands_wrote_into_a_config_has_its_meaning(at_home: World) -> None:
    project = Project(".")
    calc, note, signed = (project.load_tool(f"tool-{name}") for name in ("calc", "note", "signed"))
    project.close()
    assert (calc.version, list(calc.tags), calc.annotations) == (
        "1.2.0",
        ["numbers"],
        {"readOnlyHint": True},
    )
    assert calc.document["limits"] == {"timeout_s": 20} and [
        example["input"]["a"] for example in calc.examples
    ] == [6, "x"]
    assert calc.permissions == {"read": [], "write": [], "network": [], "programs": []}
    assert note.permissions == {"read": ["."], "write": ["."], "network": []} and note.document[
        "effects"
    ] == ["destructive"]
    assert list(signed.secrets) == ["SHOP_KEY"] and calc.input_schema["properties"]["op"][
        "enum"
    ] == ["add", "mul"]


def test_models_see_the_tools_as_the_project_exposes_them(frozen: World) -> None:
    seen = {tool["name"]: tool for tool in frozen.json("tool", "list", "--as-models")["tools"]}
    assert set(seen["calculate"]["input_schema"]["properties"]) == {"a", "b"} and seen["calculate"][
        "preset"
    ] == {"op": "mul"}
    assert (seen["calculate"]["description"], seen["calculate"]["expose"]) == (
        "Multiply two numbers.",
        "always",
    )
    assert seen["count_lines"]["expose"] == "search" and set(
        seen["shout"]["input_schema"]["properties"]
    ) == {"text"}
    assert "calc" not in seen and "read_file" not in seen
    assert set(seen["note"]["effects"]) == {"destructive"}
    (strict,) = json.loads(frozen.run("export", "--as", "openai", "get_price").out)
    assert strict["function"]["strict"] is True


def test_a_name_resolves_in_the_order_that_was_configured(frozen: World) -> None:
    found = frozen.json("tool", "resolve", "echo")
    assert (found["scope"], found["uid"], found["trusted"]) == (
        "desk",
        "tool-desk-echo-1d73d3e3de",
        True,
    )
    decided = next(one["decided_by"] for one in found["candidates"] if one["status"] == "selected")
    assert decided.endswith("config.json#/tool_resolution_order/1")


def test_examples_that_were_kept_and_recorded_still_pass(frozen: World) -> None:
    results = frozen.json("tool", "test", *TESTED)["results"]
    assert all(result["passed"] for result in results)
    assert {result["tool"] for result in results} == set(TESTED)
    assert [result["pointer"] for result in results if result["tool"] == "calc"] == [
        "/examples/0",
        "/examples/1",
    ]


def test_an_example_fails_where_its_tool_gives_something_else(world: World) -> None:
    def change(name: str, **expected: Any) -> None:
        path = world.shop / f".vespe/tools/tool-{name}/config.json"
        edit(path, lambda tool: tool["examples"][0].update(expected))

    change("calc", output=43)
    change("count_lines", output_schema={"required": ["words"]})
    change("shout", output="[b]")
    world.run("trust", "--yes")
    results = world.json("tool", "test", "calc", "count_lines", "shout", code=1)["results"]
    assert [result["tool"] for result in results if not result["passed"]] == [
        "calc",
        "count_lines",
        "shout",
    ]


def test_a_schema_that_was_derived_is_still_what_its_function_takes(world: World) -> None:
    world.run("tool", "sync", "--check")
    script = world.shop / ".vespe/tools/tool-calc/calc.py"
    write(script, script.read_text(encoding="utf-8").replace('"add", "mul"', '"add", "mul", "sub"'))
    world.run("tool", "sync", "--check", code=1)


def test_lint_obeys_what_projects_and_tools_say_of_it(world: World) -> None:
    findings = world.json("lint", code=1)["findings"]
    missing = {
        finding["tool"]: finding["severity"]
        for finding in findings
        if finding["rule"] == "description-argument-missing"
    }
    assert (
        missing
        and set(missing.values()) == {"error"}
        and "shout" not in missing
        and "price" in missing
    )
    assert not any(
        finding["rule"] in ("layout-project-config", "layout-unused-ignore") for finding in findings
    )
    edit(world.shop / ".vespe/tools/tool-shout/config.json", lambda tool: tool.pop("lint"))
    again = world.json("lint", code=1)["findings"]
    assert "shout" in {
        finding["tool"] for finding in again if finding["rule"] == "description-argument-missing"
    }


def test_a_module_whose_source_changed_since_it_was_built_is_told_from_one_that_did_not(
    world: World,
) -> None:
    def stale() -> set[str]:
        findings = world.run("lint", "--select", "layout", "--json", code=code).document["findings"]
        return {
            finding["tool"] for finding in findings if "older than its source" in finding["message"]
        }

    code = 0
    assert stale() == set()
    for name, source in (("edit_distance", "src/tool.c"), ("word_count", "src/tool.rs")):
        with (world.shop / f".vespe/tools/tool-{name}/{source}").open(
            "a", encoding="utf-8"
        ) as file:
            file.write("\n// changed\n")
    code = 1
    assert stale() == {"edit_distance", "word_count"}


def test_a_tool_without_an_implementation_is_run_by_the_program_that_registers_one(
    at_home: World,
) -> None:
    registry = ToolRegistry()
    registry.register(lambda item: f"{item}: 2", name="price")
    project = Project(".", registry=registry)
    assert project.execute_tool("price", {"item": "pen"}).unwrap() == "pen: 2"
    with pytest.raises(ToolImplementationNotFound):
        project.execute_tool("get_price", {"item": "pen"})
    project.close()


def test_an_http_tool_asks_its_host_with_its_secret(world_of: Callable[..., World]) -> None:
    def answer(exchange: Exchange) -> bool:
        return exchange.reply(json.dumps([exchange.target, exchange.headers.get("x-key")]).encode())

    with Loopback(answer) as server:
        world = world_of("home", "web", port=server.port)
        said = world.run(
            "tool", "run", "page", "name=a b", "q=c", cwd="web", env={"WEB_KEY": "0123456789"}
        ).out
        without = world.run("tool", "run", "page", "name=a", cwd="web", code=6)
    assert json.loads(said) == ["/items/a%20b?q=c", "***"] and "WEB_KEY" in without.err


def test_a_script_with_a_lock_runs_with_the_packages_that_were_locked(world: World) -> None:
    world.add("packages", "wheels")
    offline = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(world.root / "wheels"),
        "PATH": os.defpath + ":/usr/local/bin",
    }
    assert "every lock matches" in world.run("tool", "lock", "--check", cwd="packages").err
    assert (
        world.run("tool", "run", "greet", "name=Ada", cwd="packages", env=offline).out
        == "hello, Ada"
    )
    script = world.root / "packages/.vespe/tools/tool-greet/greet.py"
    write(script, script.read_text(encoding="utf-8").replace('"greeting"', '"greeting>=1"'))
    refused = world.run("tool", "run", "greet", "name=Ada", cwd="packages", code=4, env=offline)
    assert "greet.py.lock" in refused.err and "vespe tool lock" in refused.err


def test_a_script_of_the_projects_own_environment_runs_there(world: World) -> None:
    world.add("packages")
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(world.root / "packages/.venv")],
        check=True,
    )
    assert world.run("tool", "run", "own_python", cwd="packages").out == "true\n"


def test_copies_of_the_tools_that_shipped_then_find_the_modules_that_they_import(
    world: World,
) -> None:
    """Copies belong to the user, and their scripts import modules of Vespe by the names of 0.2."""
    world.add("copies")
    results = world.json("tool", "test", *COPIES, cwd="copies")["results"]
    assert {result["tool"] for result in results} == set(COPIES)
    assert [result for result in results if not result["passed"]] == []
    imported = {
        line
        for script in (FILES / "copies").rglob("*.py")
        for line in script.read_text(encoding="utf-8").splitlines()
        if line.startswith("from vespe")
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(sorted(imported))],
        capture_output=True,
        check=False,
    )
    assert len(imported) > 10 and done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_published_schema_of_now_takes_the_files_of_then(kind: str, frozen: World) -> None:
    schema = json.loads(frozen.run("schema", kind).out)
    files = [file for pattern in SCHEMAS[kind] for file in frozen.root.glob(f"**/{pattern}")]
    for file in [file for file in files if "/store/" not in str(file)]:
        jsonschema.Draft202012Validator(schema).validate(read(file))
    assert files


def test_a_new_tool_names_the_schemas_that_the_project_keeps(world: World) -> None:
    world.run("untrust")
    world.run("tool", "create", "fresh", "--type", "python_script")
    assert (
        read(world.shop / ".vespe/tools/tool-fresh/config.json")["$schema"]
        == "../../schemas/tool.schema.json"
    )
    world.run("schema", "--write")
    tools = read(world.shop / ".vespe/schemas/tool.schema.json")
    assert tools == json.loads(world.run("schema", "tool").out)


def test_what_a_killed_command_left_is_no_tool_and_goes_with_the_next_change(world: World) -> None:
    tools = world.shop / ".vespe/tools"
    shutil.copytree(tools / "tool-calc", tools / ".vespe-0123456789abcdef01234567.tmp/tool-half")
    beside = world.shop / ".vespe/config.json.1a2b-3c4d.tmp"
    write(beside, "{")
    assert "half" not in {tool["uid"] for tool in world.json("tool", "list", "--all")["tools"]}
    world.run("tool", "create", "fresh", "--type", "python_script")
    world.run("kit", "deactivate", "linked")
    assert not beside.exists() and not [
        path for path in tools.iterdir() if path.name.startswith(".vespe-")
    ]
