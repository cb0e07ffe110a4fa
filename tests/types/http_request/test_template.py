"""What a new http_request begins with runs at once, and follows what the user already said."""

from vespe.models import JsonObject
from vespe.schemas.validator import check_schema
from vespe.types.http_request import template
from vespe.types.http_request.template import http_template


def test_no_input_of_the_template_is_required() -> None:
    schema = http_template(None, None, None).input_schema
    assert schema.get("required", []) == [] and check_schema(schema) == []


def test_the_slots_of_a_url_are_required_and_those_of_the_query_are_not() -> None:
    made = http_template(
        None, {"query": {"q": "{words}", "page": "{id}"}}, "https://example.org/{id}/x"
    )
    assert made.input_schema["properties"].keys() == {"id", "words"}
    assert made.input_schema["required"] == ["id"]


def test_a_schema_alone_fills_the_query() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "q": {"type": "string"}},
    }
    assert http_template(schema, None, "https://example.org/{id}").args == {
        "query": {"q": "{q}"},
    }
    assert http_template(schema, None, None).path == template.PLACEHOLDER_URL
    # what answers with text is read as text
    assert http_template(None, None, "https://example.org").args == {}


def test_the_description_names_the_method_so_that_two_of_one_url_can_be_told_apart() -> None:
    for method in ("GET", "DELETE"):
        made = template.begin(
            "http_request", "x", given={"path": "https://example.org/{id}", "entrypoint": method}
        )
        said = made.document["description"]
        assert said == f"Send a {method} request to https://example.org/{{id}}."
