"""BM25: its words, its numbers, and which pairs it compares."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vespe.tools import bm25

bags = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), min_size=2, max_size=8)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("getUserByID", ["get", "user", "id"]),
        ("list_files-2", ["list", "file", "2"]),
        ("The address of a class, and its status", ["address", "class", "status"]),
        ("天气 預報", ["天气", "預報"]),
        ("", []),
    ],
)
def test_names_and_texts_become_words_in_lower_case_without_the_commonest(
    text: str, words: list[str]
) -> None:
    assert bm25.words(text) == words


def test_a_score_is_what_the_formula_says() -> None:
    index = bm25.Index([["a", "b"], ["a", "c", "c", "d"]])
    rarity = math.log(1 + (bm25.BACKGROUND + 2 - 2 + 0.5) / 2.5)
    norm = bm25.K1 * (1 - bm25.B + bm25.B * 4 / 3)
    assert index.rarity("a") == pytest.approx(rarity)
    assert index.score(0, 1) == pytest.approx(rarity * 1 * (bm25.K1 + 1) / (1 + norm))


def test_a_rarer_word_makes_two_documents_more_alike() -> None:
    common = [["x", "a"], ["x", "b"], ["x", "c"], ["rare", "d"], ["rare", "e"]]
    index = bm25.Index(common)
    assert index.alike(3, 4) > index.alike(0, 1) > 0


@given(bags)
def test_likeness_is_symmetrical_between_none_and_one_and_whole_for_the_same_words(
    documents: list[list[str]],
) -> None:
    index = bm25.Index([*documents, documents[0]])
    last = len(documents)
    assert index.alike(0, last) == pytest.approx(1.0)
    assert 0 <= index.alike(0, 1) == index.alike(1, 0) <= 1


@given(bags)
def test_the_pairs_are_all_those_that_are_alike_enough_the_most_alike_first(
    documents: list[list[str]],
) -> None:
    index = bm25.Index(documents)
    pairs = index.pairs(0.5)
    count = len(documents)
    wanted = {
        (a, b)
        for a in range(count)
        for b in range(a + 1, count)
        if documents[a] and index.alike(a, b) >= 0.5
    }
    assert {(pair.first, pair.second) for pair in pairs} == wanted
    assert [pair.alike for pair in pairs] == sorted((pair.alike for pair in pairs), reverse=True)


def test_documents_without_words_are_alike_only_to_each_other() -> None:
    index = bm25.Index([[], [], ["a"]])
    assert (index.alike(0, 1), index.alike(0, 2)) == (1.0, 0.0)
    assert bm25.Index([]).pairs(0.1) == []


def test_words_that_nearly_all_of_thousands_have_are_not_compared() -> None:
    index = bm25.Index([["tool", "number", f"n{one}"] for one in range(2000)])
    assert index.pairs(0.1) == []


def test_rare_words_are_compared_among_thousands_too() -> None:
    index = bm25.Index(
        [*(["tool", f"n{one}"] for one in range(2000)), ["tool", "double"], ["tool", "double"]]
    )
    assert [(pair.first, pair.second) for pair in index.pairs(0.9)] == [(2000, 2001)]
