"""A type's own remarks reach the rules of their codes, of Vespe's own tools alone."""

from tests.features.lint.judging import subject
from vespe.features.lint.type_remarks import remarks_of

DOCUMENT = {"implementation_details": {"type": "http_request", "path": "http://a.example"}}


def test_a_rule_finds_the_remarks_of_its_code_and_no_others() -> None:
    given = subject(api="vespe", document=DOCUMENT)
    (found,) = remarks_of(given, "safety-plain-http")
    assert found.pointer == "/implementation_details/path" and found.fix == "write https://"
    assert [*remarks_of(given, "safety-shell")] == []


def test_neither_a_foreign_definition_nor_an_unknown_type_has_remarks() -> None:
    assert [*remarks_of(subject(api="mcp", document=DOCUMENT), "safety-plain-http")] == []
    odd = {"implementation_details": {"type": ["http_request"]}}
    assert [*remarks_of(subject(api="vespe", document=odd), "safety-plain-http")] == []
