"""`permissions` as a config.json says them."""

import pytest

from tests.support import render_schema
from tests.support.installs import CHECKOUT
from vespe.models import PERMISSIONS, Permissions
from vespe.tools import fields
from vespe.tools.permissions import LISTS, permissions_of, stated_hosts


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, Permissions()),
        ({"read": [], "network": ["h:1"]}, Permissions(read=(), network=("h:1",))),
        (
            {"write": "x", "programs": [1, "git"], "memory_mb": True},
            Permissions(write=(), programs=("git",)),
        ),
        ({"memory_mb": 64, "other": 1}, Permissions(memory_mb=64)),
    ],
)
def test_what_is_stated_is_read_and_what_is_wrong_grants_nothing(
    document: dict[str, object], expected: Permissions
) -> None:
    assert permissions_of(document) == expected


def test_the_published_schema_and_the_page_have_them_all() -> None:
    assert render_schema.PUBLISHED.read_text(encoding="utf-8") == render_schema.made(), (
        "run `./dev docs`"
    )
    page = (CHECKOUT / "docs/sandbox.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in PERMISSIONS)


@pytest.mark.parametrize("name", LISTS)
def test_a_value_with_nul_is_told_where_it_stands(name: str) -> None:
    document = {"uid": "tool-a", "name": "a", "schema": {}, "permissions": {name: ["a", "b\0c"]}}
    found = fields.found_in_fields(document, uid="tool-a", kit_id=None)
    [(at, sentence)] = [(one[0], one[1]) for one in found if one[0].startswith("/permissions")]
    assert at == f"/permissions/{name}/1" and "must be a string without NUL" in sentence


def test_hosts_are_found_with_where_they_stand() -> None:
    stated = {"read": ["a"], "network": ["h:1", 2]}
    assert list(stated_hosts({"permissions": stated})) == [
        ("/permissions/network/0", "h:1"),
        ("/permissions/network/1", 2),
    ]
    assert list(stated_hosts({"permissions": [1]})) == list(stated_hosts({})) == []
