"""The cost of definitions."""

from vespe.adapters.cost import Size, size_of, total


def test_a_definition_is_measured_as_compact_json() -> None:
    assert size_of({"a": "é"}) == Size(characters=9, tokens=3, exact=False)


def test_a_count_that_is_given_makes_it_exact() -> None:
    assert size_of({"a": [1, 2]}, count=lambda text: text.count(",") + 1) == Size(
        characters=11, tokens=2, exact=True
    )


def test_a_total_is_exact_only_where_all_of_it_is() -> None:
    one, other = Size(characters=4, tokens=1, exact=True), Size(characters=8, tokens=2, exact=False)
    assert total([one, other]) == Size(characters=12, tokens=3, exact=False)
    assert total([one, one]).exact and total([]).tokens == 0
