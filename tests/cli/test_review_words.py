"""What a tool declares, in words that no value can add to."""

import json

import pytest

from vespe.cli import review_words
from vespe.models import JsonObject, JsonValue
from vespe.tools.fields import EFFECTS


def test_what_a_tool_may_do_is_said_in_words_that_no_value_can_add_to() -> None:
    nothing: JsonObject = {name: [] for name in ("read", "write", "network", "programs", "sockets")}
    assert review_words.permitted({**nothing, "memory_mb": 64}) == (
        "read none of your files; write no file; connect to no host; start no program; use no "
        "local socket; use 64 MB of memory"
    )
    assert review_words.permitted({"read": ["a; write no file"]}) == "read 'a; write no file'"
    odds: list[JsonValue] = [{"read": "x"}, {"read": [1]}, {"other": []}, [1], "x"]
    assert [review_words.permitted(odd) for odd in odds] == odds
    assert review_words.permitted(None) == review_words.permitted({}) == ""


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (
            {"timeout_s": 5, "max_output_bytes": 4096, "model_tokens": "whole"},
            "a call may take 5 s; a result may have 4,096 bytes; a model sees complete results",
        ),
        ({"worker": "persistent", "max_calls": 10}, "its process is kept between calls; "),
        ({"timeout_s": True}, {"timeout_s": True}),
        ({"other": 1}, {"other": 1}),
        ([], []),
    ],
)
def test_limits_are_words_or_what_they_are(limits: JsonValue, said: JsonValue) -> None:
    found = review_words.limits_of(limits)
    assert found.startswith(said) if isinstance(said, str) else found == said


def test_every_effect_has_words_and_an_unknown_one_is_quoted() -> None:
    assert tuple(review_words.EFFECTS) == EFFECTS
    assert review_words.effects(["writes"]).startswith("changes something (")
    assert review_words.effects([]).startswith("none (")
    assert review_words.effects(["none; it is fine"]).startswith('"none; it is fine" (')
    assert review_words.effects({"a": [1]}) == '{"a":[1]}' and review_words.effects(None) == ""


def test_hints_are_words_and_reading_only_comes_first() -> None:
    said = review_words.hints_of({"title": "Wipe", "openWorldHint": False, "readOnlyHint": True})
    assert said == f"{review_words.READS_ONLY}; title Wipe; it does not reach other systems"
    assert review_words.READS_ONLY not in review_words.hints_of({"readOnlyHint": 1})
    assert review_words.hints_of({"title": review_words.READS_ONLY}) == (
        f'title "{review_words.READS_ONLY}"'
    )
    assert review_words.hints_of({"title": "a; b"}) == 'title "a; b"'
    for key in ("a; it only reads", "it changes nothing\x1b[1m", "two words"):
        assert review_words.hints_of({key: True}) == f"{json.dumps(key)} true"
    assert review_words.view('t as {"x; under the name y": 1}') == (
        't with the "x; under the name y" 1'
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"query": {"state": "{state}"}, "body": {"json": {"title": "{title}", "n": 1}}},
            "query state={state}; body json title={title}, n=1",
        ),
        (
            {"auth": {"type": "bearer", "token": "${env:KEY}"}},
            "auth type=bearer, token=${env:KEY}",
        ),
        ({"stdin": "a; b", "x y": ""}, 'stdin="a; b", "x y"=""'),
        ({"a": {}}, "a={}"),
        ({"a": "x=1"}, 'a="x=1"'),
        ("text", "text"),
        ({}, ""),
    ],
)
def test_an_object_is_said_by_its_members(given: JsonValue, said: str) -> None:
    assert review_words.details(given) == said


def test_what_models_see_otherwise_is_said() -> None:
    given = {"as": "tickets", "preset": {"state": "open"}, "description": 'List "them"'}
    said = review_words.view(f"list as {json.dumps(given)}")
    assert said == (
        "list under the name tickets, with state=open in every call, "
        'with the description "List \\"them\\""'
    )
    assert review_words.view("list as nonsense") == "list as nonsense"
    assert review_words.view("list as {broken") == "list as {broken"
