"""A definition's digest, its name here, and what differs between two snapshots."""

import pytest

from tests.support.mcp_servers import definition
from vespe.tools import mcp_definitions


def test_the_digest_goes_by_what_models_and_people_see_and_not_by_the_order_of_keys() -> None:
    plain = definition()
    turned = dict(reversed(plain.items()))
    assert mcp_definitions.digest(plain) == mcp_definitions.digest(
        turned | {"_meta": {"x": 1}, "icons": []}
    )


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Does echo. And more."},
        {"name": "ech0"},
        {"title": "Echo"},
        {"inputSchema": {"type": "object"}},
        {"outputSchema": {"type": "object"}},
        {"annotations": {"readOnlyHint": True}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_change_of_a_pinned_field_is_another_digest(change: dict[str, object]) -> None:
    assert mcp_definitions.digest(definition() | change) != mcp_definitions.digest(definition())


def test_the_digest_of_a_definition_never_changes_from_one_release_to_the_next() -> None:
    assert mcp_definitions.digest({"name": "a", "inputSchema": {"type": "object"}}) == (
        "sha256:60d4353e9a5499b483d09f13d9e28060e70f34edf787bb7040ba30bd390f85af"
    )


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("read_file", "read_file"),
        ("repo.get issue!", "repo_get_issue_"),
        ("1st", "_1st"),
        ("", "_"),
        ("日本", "__"),
        ("-x", "_-x"),
    ],
)
def test_a_name_that_could_be_none_here_becomes_one(name: str, here: str) -> None:
    assert mcp_definitions.local_name(name) == here


def test_two_long_names_that_begin_alike_stay_two() -> None:
    first, second = (mcp_definitions.local_name("x" * 100 + end) for end in "ab")
    assert first != second and len(first) == len(second) == 64


def test_changes_are_told_with_the_old_and_the_new_in_full() -> None:
    before = {"a": definition("a"), "gone": definition("gone")}
    after = {"a": definition("a", description="Now also sends."), "new": definition("new")}
    lines = list(mcp_definitions.changes(before, after))
    assert lines[0] == "- gone: the server no longer has it"
    assert lines[1:4] == ["~ a: description", '    - "Does a."', '    + "Now also sends."']
    assert lines[4].startswith('+ new: {"name":"new"') and len(lines) == 5
