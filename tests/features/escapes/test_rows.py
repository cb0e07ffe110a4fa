"""The table itself, and the page that shows it."""

from tests.support import render_escapes
from vespe.features.escapes.rows import ROWS, TITLES


def test_the_page_of_the_table_is_the_table() -> None:
    assert render_escapes.PAGE.read_text(encoding="utf-8") == render_escapes.render(), (
        "run `./dev docs`"
    )


def test_no_two_rows_of_the_table_have_one_name() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_each_row_has_a_policy_that_is_tried_and_an_honest_twin() -> None:
    assert {row.policy for row in ROWS} == set(TITLES)
    assert [row.name for row in ROWS if not row.twin or row.twin == row.attack] == []


def test_the_tests_that_the_page_speaks_of_are_there() -> None:
    tests = render_escapes.PAGE.parent.parent / "tests"
    assert [
        name
        for _, _, path, name in render_escapes.BESIDE
        if f"def {name}(" not in (tests / path).read_text(encoding="utf-8")
    ] == []
