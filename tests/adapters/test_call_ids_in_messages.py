"""The calls of an assistant's message, found and named."""

from types import SimpleNamespace
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage

from vespe.adapters.call_ids import calls_of, custom_text_of, function_of, is_custom
from vespe.errors import InvalidDocument

CALL: dict[str, Any] = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize("calls", ["x", {"a": 1}, [3], [None], [SimpleNamespace()]])
def test_calls_of_another_kind_are_refused(calls: object) -> None:
    with pytest.raises(InvalidDocument, match=r"messages\[2\]"):
        calls_of({"tool_calls": calls}, 2)


def test_a_deprecated_function_call_is_a_call() -> None:
    old = {"name": "f", "arguments": "{}"}
    assert calls_of({"function_call": old}, 0) == [{"type": "function", "function": old}]
    assert (
        calls_of({"function_call": None}, 0)
        == calls_of({"function_call": {"name": "", "arguments": ""}}, 0)
        == []
    )
    with pytest.raises(InvalidDocument, match="`function_call` must be an object"):
        calls_of({"function_call": "f"}, 0)


def test_a_tuple_is_as_good_as_a_list() -> None:
    assert calls_of({"tool_calls": (CALL,)}, 0) == [CALL]


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"function": {}},
        {"function": None},
        {"function": {"name": 3}},
        {"type": "custom", "function": {"name": "f"}},
    ],
)
def test_a_call_without_a_name_is_refused(call: dict[str, object]) -> None:
    with pytest.raises(InvalidDocument, match="no function's name"):
        function_of(call, 0)


def test_an_sdks_objects_are_refused_with_what_to_give_instead() -> None:
    (call,) = (
        ChatCompletionMessage.model_validate({"role": "assistant", "tool_calls": [CALL]}).tool_calls
        or []
    )
    with pytest.raises(
        InvalidDocument,
        match=r"must be an object, not ChatCompletionMessageFunctionToolCall \(give its "
        r"`model_dump\(\)`\)",
    ):
        calls_of({"tool_calls": [call]}, 0)
    with pytest.raises(InvalidDocument, match=r"`function` must be an object, not Function \(give"):
        function_of({**CALL, "function": getattr(call, "function", None)}, 0)
    assert calls_of({"tool_calls": [call.model_dump()]}, 0) == [CALL]


def test_a_custom_call_is_known_without_its_type_and_holds_a_text() -> None:
    custom = {"name": "sh", "input": "ls"}
    assert is_custom({"custom": custom}) and is_custom({"type": "custom"}) and not is_custom(CALL)
    assert function_of({"custom": custom}, 0) == custom and custom_text_of(custom, 0) == "ls"
    with pytest.raises(InvalidDocument, match="must be a string, not int"):
        custom_text_of({"input": 3}, 0)
