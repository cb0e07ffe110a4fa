"""What differs between the revisions."""

import pytest

from vespe.serve import dialects

ENTRY = {"name": "a", "description": "b", "inputSchema": {}, "title": "A", "annotations": {}, "outputSchema": {}}


@pytest.mark.parametrize(("asked", "given"), [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25"), ("2026-07-28", "2025-11-25")])
def test_a_handshake_settles_on_the_clients_revision_or_on_the_newest_that_has_one(asked: str, given: str) -> None:
    assert dialects.negotiated(asked) == given


@pytest.mark.parametrize(
    ("revision", "left"), [("2024-11-05", {"title", "annotations", "outputSchema"}), ("2025-03-26", {"title", "outputSchema"})]
)
def test_an_older_revision_sees_only_the_fields_that_it_knows(revision: str, left: set[str]) -> None:
    assert ENTRY.keys() - dialects.tool_entry(ENTRY, {}, revision).keys() == left


def test_the_newest_revision_lists_output_schemas_of_every_type() -> None:
    entry = {"name": "a", "inputSchema": {}}
    assert dialects.tool_entry(entry, {"type": "array"}, dialects.NEWEST)["outputSchema"] == {"type": "array"}
    assert "outputSchema" not in dialects.tool_entry(entry, {"type": "array"}, "2025-11-25")


def test_only_the_newest_revision_says_what_kind_of_result_it_is_and_who_gives_it() -> None:
    assert dialects.complete({"tools": []}, "2025-11-25", cached=True) == {"tools": []}
    said = dialects.complete({"tools": []}, dialects.NEWEST, cached=True)
    assert (said["resultType"], said["ttlMs"], said["cacheScope"]) == ("complete", 0, "private") and said["_meta"]
