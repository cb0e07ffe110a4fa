"""Tokens of characters."""

import pytest

from vespe.adapters.cost import tokens_of


@pytest.mark.parametrize(("characters", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (4000, 1000)])
def test_four_characters_are_a_token_and_a_part_of_one_counts_whole(
    characters: int, tokens: int
) -> None:
    assert tokens_of(characters) == tokens
