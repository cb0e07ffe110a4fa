"""References between documents: beneath the description's directory, elsewhere only where asked,
never in a circle.
"""

from pathlib import Path

import pytest

from tests.support.descriptions import described
from vespe.documents.strict_json import dump_json
from vespe.errors import UsageError
from vespe.features.imports.openapi.documents import Documents, Unresolved


def documents(directory: Path, **files: object) -> Documents:
    for name, content in {"api": described({}), **files}.items():
        file = directory / f"{name.replace('__', '/')}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dump_json(content), encoding="utf-8")
    return Documents(str(directory / "api.json"))


def test_a_reference_leads_into_other_files_relative_to_its_own(tmp_path: Path) -> None:
    found = documents(
        tmp_path, parts__a={"b": {"$ref": "../other.json#/c"}}, other={"c": {"type": "string"}}
    )
    at = found.resolve("parts/a.json#/b", found.base)
    assert found.follow(at).value == {"type": "string"}


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("../secret.json", "outside"),
        ("/etc/passwd", "outside"),
        ("file:///etc/passwd", "neither|not a file"),
        ("%2e%2e/secret.json", "outside"),
        ("link.json", "outside"),
        ("https://example.com/a.json", "--fetch"),
        ("//example.com/a.json", "outside"),
        ("#/nowhere", "leads nowhere"),
        ("#anchor", "anchor"),
        ("missing.json", "cannot be read"),
        ("ftp://example.com/a", "not a file"),
        ("a\0b.json", "not a file"),
        ("\ud800.json", "not a file"),
    ],
)
def test_a_reference_that_leads_out_or_nowhere_is_not_followed(
    tmp_path: Path, reference: str, said: str
) -> None:
    (tmp_path / "secret.json").write_text("{}", encoding="utf-8")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.json").symlink_to(tmp_path / "secret.json")
    found = documents(inner)
    with pytest.raises(Unresolved, match=said):
        found.resolve(reference, found.base)


def test_a_circle_of_references_ends(tmp_path: Path) -> None:
    found = documents(tmp_path, a={"$ref": "b.json"}, b={"$ref": "a.json"})
    with pytest.raises(Unresolved, match="back to itself"):
        found.follow(found.resolve("a.json", found.base))


def test_addresses_are_fetched_where_asked_and_relative_ones_follow_their_own_base() -> None:
    served = {
        "https://h.example/v1/api.json": b'{"openapi": "3.0.0"}',
        "https://h.example/v1/s/a.yaml": b"b: {$ref: ../c.json}",
        "https://h.example/v1/c.json": b'{"type": "null"}',
    }
    found = Documents("https://h.example/v1/api.json", fetch=served.__getitem__, follow=True)
    assert found.follow(found.resolve("s/a.yaml#/b", found.base)).value == {"type": "null"}
    alone = Documents("https://h.example/v1/api.json", fetch=served.__getitem__)
    with pytest.raises(Unresolved, match="--fetch"):
        alone.resolve("s/a.yaml#/b", alone.base)


def test_an_address_is_not_fetched_without_a_way_to() -> None:
    with pytest.raises(UsageError, match="fetching was not allowed"):
        Documents("https://h.example/api.json")


def test_names_of_their_own_are_found(tmp_path: Path) -> None:
    named = {"s": {"$id": "https://example.com/s", "$anchor": "here", "type": "string"}}
    found = documents(tmp_path, api=described({}, components={"schemas": named}))
    assert found.resolve("https://example.com/s", found.base).value["type"] == "string"
    assert found.resolve("#here", found.base).value["type"] == "string"
