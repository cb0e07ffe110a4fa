"""Streamed answers of Gemini's Interactions, handled."""

from pathlib import Path
from typing import Any

import pytest
from google.genai.interactions import Interaction

from tests.adapters.google_judges import complaint
from tests.adapters.streams.streamed import context, cut, interactions_body
from tests.features.agents.agents_on_disk import Bench
from vespe import InteractionsHandler, StreamingRequest, Toolset

REQUEST = StreamingRequest(payload={"model": "m", "input": "go"})


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_the_steps_come_back_as_they_came_and_a_result_for_each_call(
    bench: Bench, size: int
) -> None:
    shared = context(bench)
    body = cut(interactions_body(), size)
    result = InteractionsHandler().process_stream(body, REQUEST, {}, shared)
    thought, first, second, done, failed = result.continuation
    assert thought == {"type": "thought", "signature": "c2ln"}
    assert (first["arguments"], second["arguments"]) == ({"n": 2}, {"n": "x"})
    assert done == {"type": "function_result", "call_id": "c0", "name": "double", "result": "4"}
    assert failed["is_error"] is True and result.next_request is not None
    payload: dict[str, Any] = result.next_request.payload
    asked = {"type": "user_input", "content": [{"type": "text", "text": "go"}]}
    assert payload["input"] == [asked, *result.continuation]
    assert complaint("request", payload) == ""


def test_an_id_that_an_earlier_turn_has_used_is_made_unique(bench: Bench) -> None:
    shared = context(bench)
    handler, body = InteractionsHandler(), interactions_body()
    first = handler.process_stream([body], REQUEST, {}, shared)
    assert first.next_request is not None
    second = handler.process_stream([body], first.next_request, {}, shared)
    assert [step["id"] for step in second.continuation[1:3]] == ["c0_2", "c1_2"]


def test_the_prompt_comes_behind_the_system_instruction() -> None:
    request = {"system_instruction": "Be brief."}
    made = InteractionsHandler().prepare_payload(request, [], "Use tools.")
    assert made == {"system_instruction": "Be brief.\n\nUse tools."}


def test_an_object_of_googles_own_client_is_answered(home: Path) -> None:
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    steps = [
        {"type": "thought", "signature": "c2ln"},
        {"type": "function_call", "id": "c0", "name": "double", "arguments": {"n": 2}},
    ]
    given = {"id": "i", "status": "requires_action", "steps": steps}
    answer = Toolset(double).answer(Interaction.model_validate(given))
    result = {"type": "function_result", "call_id": "c0", "name": "double", "result": "4"}
    assert list(answer) == [*steps, result]
