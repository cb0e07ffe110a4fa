"""The encoder that is made once says what json's own says, of every value, and fails as that
does.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vespe.documents.strict_json import text_encoder

ENCODERS = {
    "compact": json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")),
    "canonical": json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=repr),
    "plain": json.JSONEncoder(),
}
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)


@pytest.mark.parametrize("name", ENCODERS)
@given(value=VALUES)
def test_it_says_what_the_encoder_says(name: str, value: Any) -> None:
    assert text_encoder(ENCODERS[name])(value) == ENCODERS[name].encode(value)


def holding_itself() -> list[Any]:
    value: list[Any] = [{}]
    value[0]["again"] = value
    return value


@pytest.mark.parametrize(
    "value",
    [float("nan"), [float("inf")], {"a": object()}, {(1, 2): 3}, holding_itself()],
    ids=["nan", "inf", "object", "key", "circle"],
)
def test_it_fails_as_the_encoder_fails_and_goes_on(value: Any) -> None:
    encode = text_encoder(ENCODERS["compact"])
    with pytest.raises((TypeError, ValueError)) as expected:
        ENCODERS["compact"].encode(value)
    with pytest.raises(type(expected.value)) as found:
        encode(value)
    assert str(found.value) == str(expected.value) and encode({"a": [1]}) == '{"a":[1]}'


def test_what_the_encoder_does_not_know_goes_to_its_default() -> None:
    assert text_encoder(ENCODERS["canonical"])({"b": {1}, "a": 1}) == '{"a":1,"b":"{1}"}'


def test_without_the_part_in_c_it_is_the_encoder_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    assert text_encoder(ENCODERS["compact"])([1, "ä"]) == '[1,"ä"]'
