"""Parameters; `test_wire.py` holds what is sent for each."""

from pathlib import Path

from tests.support.descriptions import described, imported, inputs_of, tool_of


def test_an_operations_parameter_stands_for_its_paths_of_the_same_name_and_place(
    tmp_path: Path,
) -> None:
    item = {
        "parameters": [
            {"name": "a", "in": "query", "schema": {"type": "string"}},
            {"name": "a", "in": "header", "schema": {}},
        ],
        "get": {"parameters": [{"name": "a", "in": "query", "schema": {"type": "integer"}}]},
    }
    (made,) = imported(described({"/x": item}), tmp_path).tools
    assert inputs_of(made) == {"a": {"type": "integer"}, "a_header": {}}


def test_names_of_path_query_and_body_do_not_clash(tmp_path: Path) -> None:
    said = {
        "parameters": [
            {"name": "id", "in": "path", "schema": {"type": "string"}},
            {"name": "id", "in": "query", "schema": {}},
            {"name": "body", "in": "query", "schema": {}},
        ],
        "requestBody": {"content": {"application/json": {"schema": {"properties": {"id": {}}}}}},
    }
    made = tool_of(said, tmp_path, path="/x/{id}")
    assert list(inputs_of(made)) == ["id", "id_query", "body", "request_body"]
    assert made.document["implementation_details"]["path"].endswith("/x/{id}")


def test_what_is_wrong_with_a_parameter_is_said_and_the_rest_goes_on(tmp_path: Path) -> None:
    said = {
        "parameters": [
            {"$ref": "#/nowhere"},
            {"in": "query"},
            {"name": "a", "in": "nowhere"},
            7,
            {"name": "b", "in": "path", "schema": {}},
            {"name": "Host", "in": "header", "schema": {}},
            {"name": "ok", "in": "query", "schema": {}},
        ]
    }
    made = tool_of(said, tmp_path, path="/x/{c}")
    assert list(inputs_of(made)) == ["c", "ok"]
    assert len(made.notes) == 5


def test_a_name_is_the_inputs_and_what_is_sent_is_the_parameters(tmp_path: Path) -> None:
    made = tool_of(
        {"parameters": [{"name": "filter[a]", "in": "query", "schema": {"type": "string"}}]},
        tmp_path,
    )
    assert made.document["implementation_details"]["args"] == {"query": {"filter[a]": "{filter_a}"}}
