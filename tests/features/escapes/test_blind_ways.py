"""Sandbox escapes that were designed without a look at the code."""

from pathlib import Path

from vespe.features.escapes.blind_ways import BLIND
from vespe.features.escapes.rows import ROWS

BEFORE = Path(__file__).parents[2] / "cases/0.2/escapes.txt"
"""The rows that 0.2 had, by their present names."""


def test_a_third_of_what_came_since_0_2_was_designed_without_a_look_at_the_code() -> None:
    before = set(BEFORE.read_text(encoding="utf-8").splitlines())
    since = {row.name for row in ROWS} - before
    blind = {row.name for row in BLIND}
    assert blind <= since and 3 * len(blind) >= len(since) > 0
