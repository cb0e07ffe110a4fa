"""Edits beside calls, in small: no answer is older than its question."""

import pytest

from tests.acceptance import freshness


@pytest.mark.parametrize(
    ("kind", "tools"), [("library", 60), ("library", 1_200), ("server", 60), ("server", 1_200)]
)
def test_no_answer_is_stale_while_files_change(kind: str, tools: int) -> None:
    found = freshness.run(kind, tools=tools, edits=40, calls=1_000, seed=7)
    assert sum(found.edits.values()) >= 40 and len(found.edits) >= 8
    assert found.judged > 50 and not found.stale
