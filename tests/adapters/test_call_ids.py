"""Ids in Anthropic's alphabet and back, and results paired with their calls."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.adapters.call_ids import Calls, decode_id, encode_id, text_id, unique_id


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_every_id_fits_the_alphabet_and_comes_back(given_id: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]+", encode_id(given_id))
    assert decode_id(encode_id(given_id)) == given_id


@pytest.mark.parametrize("usual", ["call_1", "toolu_01-A", "vespe_id_zz", "vespe_id_ff"])
def test_an_id_in_the_alphabet_stays(usual: str) -> None:
    assert encode_id(usual) == usual == decode_id(usual)


@pytest.mark.parametrize(
    "foreign", ["vespe_id_6162", "vespe_id_746f6f6c75", "vespe_id_76657370655f69645f6162"]
)
def test_an_id_that_only_looks_encoded_is_anothers_and_stays(foreign: str) -> None:
    assert decode_id(foreign) == foreign == encode_id(foreign)


def test_an_id_that_looks_encoded_is_encoded_again() -> None:
    assert decode_id(encode_id("vespe_id_6161")) == "vespe_id_6161"


def test_ids_that_utf_8_cannot_say_stay_unique_and_can_be_said() -> None:
    calls: Calls[None] = Calls()
    made = [calls.add(i, "a", None).id for i in ("\ud800", "\ud801", "?", "vespe_id_eda080")]
    assert len(set(made)) == 4 and all(
        encode_id(i).encode() and decode_id(i).encode() for i in made
    )
    assert getattr(calls.answer("\ud801"), "id", None) == made[1]


def test_ids_that_repeat_very_often_end_in_no_recursion() -> None:
    calls: Calls[None] = Calls()
    chain = ["x"]
    for _ in range(3000):
        chain.append(f"{chain[-1]}_2")
    for wanted in chain:
        calls.add(wanted, "a", None)
    assert calls.add("x", "a", None).id not in chain


def test_calls_without_an_id_get_one_by_their_place_and_results_pair_by_place() -> None:
    calls: Calls[None] = Calls()
    made = [calls.add(None, "a", None).id, calls.add("", "b", None).id]
    assert made == ["vespe_call_1", "vespe_call_2"]
    assert [getattr(calls.answer(None), "id", None) for _ in range(3)] == [*made, None]


def test_a_repeated_id_is_made_unique_and_its_results_pair_in_order() -> None:
    calls: Calls[None] = Calls()
    made = [calls.add("x", "a", None).id for _ in range(3)]
    assert made == ["x", "x_2", "x_3"] and len(set(made)) == 3
    assert [getattr(calls.answer("x"), "id", None) for _ in range(4)] == [*made, None]


def test_an_id_that_is_already_a_made_up_one_stays_unique() -> None:
    calls: Calls[None] = Calls()
    assert [calls.add(i, "a", None).id for i in ("x", "x_2", "x")] == ["x", "x_2", "x_2_2"]


def test_a_name_decides_among_calls_without_an_id() -> None:
    calls: Calls[None] = Calls()
    calls.add(None, "a", None)
    wanted = calls.add(None, "b", None)
    assert calls.answer(None, "b") is wanted


def test_an_unknown_id_means_the_only_open_call_of_the_turn_and_no_other() -> None:
    calls: Calls[None] = Calls()
    first, second = calls.add("a", "n", None), calls.add("b", "n", None)
    assert calls.answer("unknown") is None
    assert calls.answer("b") is second
    assert calls.answer("unknown") is first


def test_a_result_without_an_id_answers_no_call_of_an_earlier_turn() -> None:
    calls: Calls[None] = Calls()
    calls.add("a", "n", None)
    calls.begin_turn()
    assert calls.answer(None) is None
    assert calls.answer("a") is not None


def test_a_number_is_its_digits_and_what_is_no_id_is_none() -> None:
    assert [text_id(i) for i in (7, "7", "", None, True, ["a"])] == ["7", "7", "", "", "", ""]
    calls: Calls[None] = Calls()
    seven, eight = calls.add(7, "n", None), calls.add(8, "n", None)
    assert (calls.answer(8), calls.answer("7")) == (eight, seven)


def test_an_id_that_other_calls_have_gets_a_number() -> None:
    calls: Calls[None] = Calls()
    given = ["c", "c", "ünïcode", "c_2"]
    assert [unique_id(one, calls) for one in given] == ["c", "c_2", "ünïcode", "c_2_2"]
