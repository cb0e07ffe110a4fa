"""Whole descriptions: which operations become tools; the recorded ones of many publishers, all in
one test.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.descriptions import described, imported
from vespe.errors import UsageError
from vespe.features.imports import writing
from vespe.features.imports.made import Selection
from vespe.features.imports.openapi.documents import Documents
from vespe.features.imports.openapi.importing import import_openapi

RECORDED = Path(__file__).parents[5] / "shared/corpus/openapi"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
PATHS = {
    "/pets": {"get": {"tags": ["pet"]}, "post": {"tags": ["Pet", "write"]}},
    "/pets/{id}": {"get": {}},
    "/users": {"get": {"tags": ["user"]}},
}


@pytest.mark.parametrize(
    ("selected", "sources"),
    [
        ({}, ["GET /pets", "POST /pets", "GET /pets/{id}", "GET /users"]),
        ({"tags": ("pet",)}, ["GET /pets", "POST /pets"]),
        ({"paths": ("/pets/*",)}, ["GET /pets/{id}"]),
        ({"paths": ("/pets*",), "tags": ("write", "user")}, ["POST /pets"]),
        ({"most": 2}, ["GET /pets", "POST /pets"]),
    ],
)
def test_a_part_can_be_taken(selected: dict[str, Any], sources: list[str], tmp_path: Path) -> None:
    made = imported(described(PATHS), tmp_path, **selected)
    assert ([tool.source for tool in made.tools], made.unselected) == (sources, 4 - len(sources))


def test_a_part_that_is_empty_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        imported(described(PATHS), tmp_path, tags=("cat",))
    assert caught.value.hint == "its tags are pet, Pet, write, user"


@pytest.mark.parametrize(
    "document",
    [
        {"openapi": "3.0.0"},
        {"openapi": 3},
        {"openapi": "3.1.0", "paths": []},
        {"openapi": "3.1.0", "paths": {"/x": 7, "/y": None}},
        {"openapi": "3.1.0", "paths": {"/x": {"get": 7}}},
        {"openapi": "3.1.0", "components": 7, "paths": {"/x": {"get": {"parameters": {}}}}},
        {
            "openapi": "3.1.0",
            "security": 7,
            "servers": 7,
            "info": 7,
            "paths": {"/x": {"get": {"tags": 7, "responses": 7}}},
        },
        {
            "swagger": "2.0",
            "paths": {
                "/x": {"post": {"parameters": [{"in": "body"}, {"in": "formData"}], "consumes": 7}}
            },
        },
    ],
)
def test_nonsense_ends_in_tools_or_reasons(document: dict[str, Any], tmp_path: Path) -> None:
    made = writing.written(imported(document, tmp_path), "kit")
    listed = document["paths"].values() if isinstance(document.get("paths"), dict) else ()
    assert len(made.tools) + len(made.left_out) == sum(
        len(item) for item in listed if isinstance(item, dict)
    )


def test_many_operations_on_one_large_schema_end_soon(tmp_path: Path) -> None:
    large = {
        f"S{number}": {
            "type": "object",
            "properties": {f"p{name}": {"type": "string"} for name in range(30)},
        }
        for number in range(20)
    }
    every = {
        "type": "object",
        "properties": {name: {"$ref": f"#/components/schemas/{name}"} for name in large},
    }
    body = {
        "requestBody": {
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/All"}}}
        }
    }
    document = described(
        {f"/{number}": {"post": body} for number in range(600)},
        components={"schemas": {**large, "All": every}},
    )
    made = imported(document, tmp_path)
    assert len(made.tools) == 600
    assert sum(len(str(tool.document)) for tool in made.tools) < 64 * 1024 * 1024


def test_more_tools_than_a_kit_holds_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="3000 tools"):
        imported(described({f"/{number}": {"get": {}} for number in range(3001)}), tmp_path)


def test_an_operation_of_too_many_parameters_is_a_reason(tmp_path: Path) -> None:
    many = [{"name": f"p{number}", "in": "query", "schema": {}} for number in range(20_000)]
    (left,) = imported(described({"/x": {"get": {"parameters": many}}}), tmp_path).left_out
    assert "20000 parameters" in left.reason


def test_a_path_in_another_file_keeps_its_own_base(tmp_path: Path) -> None:
    (tmp_path / "paths").mkdir()
    parts = {"get": {"parameters": [{"$ref": "../parts.yaml#/limit"}]}}
    (tmp_path / "paths/pets.json").write_text(json.dumps(parts), encoding="utf-8")
    (tmp_path / "parts.yaml").write_text(
        "limit: {name: limit, in: query, schema: {type: integer}}", encoding="utf-8"
    )
    made = imported(described({"/pets": {"$ref": "paths/pets.json"}}), tmp_path)
    assert list(made.tools[0].document["schema"]["input"]["properties"]) == ["limit"]


def test_every_recorded_description_becomes_tools_and_reasons_the_same_each_time() -> None:
    if not RECORDED.is_dir():
        pytest.skip(f"NOT RUN: the recorded descriptions are not in {RECORDED}")
    files = [file for file in sorted(RECORDED.rglob("*")) if file.suffix in (".json", ".yaml")]
    wrong = []
    for file in files:
        documents = Documents(str(file))
        document: Any = documents.root.value
        count = sum(
            1 for item in document.get("paths", {}).values() for method in item if method in METHODS
        )
        made = writing.written(
            import_openapi(documents, kit_id="kit", selection=Selection()), "kit"
        )
        if len(made.tools) + len(made.left_out) != count or made.left_out:
            wrong.append(
                f"{file.name}: {count} operations, {len(made.tools)} tools, {made.left_out[:3]}"
            )
    assert wrong == []
    assert len(files) >= 58
