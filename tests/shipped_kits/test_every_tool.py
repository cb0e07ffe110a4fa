"""What holds for every tool of every kit that ships."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shipped_kits.shipped import DIRECTORIES, KITS, call, document, load, stage
from vespe.errors import VespeError
from vespe.processes.workers import Workers
from vespe.schemas import validator

every_tool = pytest.mark.parametrize("name", DIRECTORIES)


def test_there_are_tools_of_all_types_enough_for_a_start() -> None:
    types = Counter(document(name)["implementation_details"]["type"] for name in DIRECTORIES)
    assert sum(types.values()) >= 18 and types.keys() == {
        "python_script",
        "shell_command",
        "http_request",
        "wasm",
        "rust_function",
    }


@pytest.mark.parametrize("kit", sorted(path.name for path in KITS.iterdir()))
def test_a_kit_says_who_it_is(kit: str) -> None:
    config = json.loads((KITS / kit / "kit_config.json").read_text(encoding="utf-8"))
    assert (
        config["kit_id"] == kit
        and config["name"]
        and config["description"]
        and config["license"] == "Apache-2.0"
    )


def test_no_uid_is_used_twice_and_no_kit_uses_a_name_twice() -> None:
    assert len({path.name for path in DIRECTORIES.values()}) == len(DIRECTORIES)
    names = [(path.parent.name, document(name)["name"]) for name, path in DIRECTORIES.items()]
    assert len(set(names)) == len(names)


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from schema.get("properties", {}).items()


@every_tool
def test_a_tool_is_described_for_a_model(name: str) -> None:
    tool = load(name)
    assert (
        20 <= len(tool.description) <= 300
        and tool.description.endswith(".")
        and tool.output_schema is not None
    )
    assert tool.input_schema["additionalProperties"] is False
    assert all(
        len(schema.get("description", "")) >= 10 for _, schema in properties(tool.input_schema)
    )
    assert set(tool.input_schema.get("required", ())) <= tool.input_schema["properties"].keys()
    assert all(
        validator.compile_schema(s, closed=False).is_valid(s["default"])
        for _, s in properties(tool.input_schema)
        if "default" in s
    )


@every_tool
def test_a_tool_says_what_it_does_to_the_world(name: str) -> None:
    annotations, kind = load(name).annotations, document(name)["implementation_details"]["type"]
    assert annotations["title"] and isinstance(annotations["readOnlyHint"], bool)
    assert annotations["openWorldHint"] is (kind == "http_request")
    assert (
        annotations["readOnlyHint"] or {"destructiveHint", "idempotentHint"} <= annotations.keys()
    )


@every_tool
def test_a_tool_is_described_for_people_too(name: str) -> None:
    text = (DIRECTORIES[name] / "description.md").read_text(encoding="utf-8")
    assert (
        text.startswith(f"# {document(name)['name']}\n")
        and len(text) > 200
        and "\n\n\n" not in text
    )


@pytest.fixture(scope="module", params=["in a process of its own", "in a fork of what is kept"])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers | None]:
    with Workers() as kept:
        yield kept if request.param.startswith("in a fork") else None


@every_tool
def test_a_tools_examples_hold(
    name: str, workers: Workers | None, home: Path, tmp_path: Path
) -> None:
    tool = load(name)
    if workers is not None and document(name)["implementation_details"]["type"] == "http_request":
        pytest.skip("it starts no process")
    at = stage(tool, tmp_path / "staged")
    assert tool.examples
    for example in tool.examples:
        try:
            result = call(tool, example["input"], at=at, workers=workers)
        except VespeError as error:
            assert error.code == example.get("error") or (error.code, example.get("error")) == (
                "storage_error",
                "tool_error",
            ), error
        else:
            assert "error" not in example and result == example.get("output", result), example
