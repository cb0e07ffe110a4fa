"""Which calls wait, and which ids are used."""

from typing import Any

from vespe.features.agents.open_calls import calls_of, read_turns, with_ids


def turn(*ids: str | None) -> dict[str, Any]:
    calls = [
        {"type": "function", "function": {"name": "f", "arguments": "{}"}}
        | ({"id": one} if one else {})
        for one in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": ""}


USER = {"role": "user", "content": "go"}


def test_the_calls_of_the_last_turn_without_a_result_wait_in_order() -> None:
    found = read_turns([USER, turn("a", "b", "c"), result("b")])
    assert [call.call_id for call in found.open] == ["a", "c"] and (
        found.last,
        found.results,
        found.stray,
    ) == (1, {1: 2}, None)


def test_a_conversation_that_went_on_past_a_call_says_where() -> None:
    assert read_turns([USER, turn("a"), USER]).stray == 1
    assert read_turns([USER, turn("a"), turn("b")]).stray == 1
    assert read_turns([USER, turn("a"), result("a"), USER]).stray is None


def test_ids_that_repeat_in_a_turn_or_a_later_one_are_told() -> None:
    found = read_turns([turn("a", "a"), result("a"), result("a"), turn("a", "b")])
    assert [call.repeated for call in found.open] == [True, False]
    assert [call.repeated for call in read_turns([turn("a", "a")]).open] == [False, True]


def test_calls_without_ids_are_answered_by_their_place() -> None:
    assert len(read_turns([turn(None, None), {"role": "tool", "content": ""}]).open) == 1


def test_what_is_no_list_of_calls_holds_none_and_what_is_no_call_names_no_tool() -> None:
    assert calls_of({"tool_calls": "x"}) == [] and calls_of({"tool_calls": [1]}) == [{}]
    (call,) = read_turns([{"role": "assistant", "tool_calls": [{"id": 7, "function": "x"}]}]).open
    assert (call.call_id, call.name, call.arguments) == ("", "", None)


def test_ids_that_nobody_gave_go_by_the_place_in_the_conversation() -> None:
    given = turn("own", None, "vespe_call_1")
    assert [call["id"] for call in with_ids(given, before=4)["tool_calls"]] == [
        "own",
        "vespe_call_6",
        "vespe_call_7",
    ]
    assert "id" not in given["tool_calls"][1]
    assert with_ids(USER, before=4) is USER


def test_a_call_of_a_program_is_known_by_a_program_of_the_conversation_in_its_turn_or_before() -> (
    None
):
    by = {"type": "function_call", "caller": {"type": "program", "caller_id": "p"}}
    program = {"type": "program", "call_id": "p", "code": "", "fingerprint": "f"}
    first = turn("a") | {"openai_items": [program, by]}
    found = read_turns([USER, first])
    assert [call.caller for call in found.open] == ["program"]
    later = turn("b", "c") | {"openai_items": [by, {"type": "function_call"}]}
    assert [one.caller for one in read_turns([USER, first, result("a"), later]).open] == [
        "program",
        "",
    ]
    assert [one.caller for one in read_turns([USER, later]).open] == ["stranger", ""]
    told = {"role": "user", "content": "hi", "openai_items": [program]}
    assert read_turns([told, later]).open[0].caller == "stranger"
