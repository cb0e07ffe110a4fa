"""What became of a call."""

import json
from typing import Any

import pytest

from tests.features.agents.providers.serving import CLASSES
from vespe.features.agents.call_results import CallResult, interrupted, not_run
from vespe.features.agents.open_calls import ModelCall
from vespe.models import Failure, Outcome

CALL = ModelCall(call_id="c", name="f", arguments="{}", place=2)


def test_a_result_is_text_or_compact_json_and_an_error_is_marked() -> None:
    told = CallResult(call=CALL, outcome=Outcome(tool="f", uid="u", result={"a": 1})).message
    assert told == {"role": "tool", "tool_call_id": "c", "content": '{"a":1}'}
    failed = CallResult(
        call=CALL,
        outcome=Outcome(tool="f", uid="u", error=Failure(code="x", message="no", hint="do")),
    ).message
    assert failed == {"role": "tool", "tool_call_id": "c", "content": "no (do)", "is_error": True}


def test_what_did_not_run_and_what_was_ended_are_errors_in_words() -> None:
    assert (not_run(CALL, "because").ran, interrupted(CALL).ran) == (False, True)
    assert (
        "earlier session" in interrupted(CALL, known=False).message["content"]
        and interrupted(CALL).message["is_error"]
    )


def test_the_event_carries_the_call_its_place_and_the_outcome() -> None:
    event = not_run(CALL, "because", code="denied").event
    assert (event.type, event.call_id, event.name, event.index) == ("tool_result", "c", "f", 2)
    assert (
        event.data is not None
        and event.data["outcome"]["error"]["code"] == "denied"
        and event.data["content"] == "because"
    )


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
TEXT = {"type": "text", "text": "a picture"}


def content_of(*blocks: Any) -> Any:
    return CallResult(
        call=CALL, outcome=Outcome(tool="f", uid="u", result={"content": list(blocks)})
    ).message["content"]


def test_an_image_is_shown_to_the_model_and_what_stands_beside_it_is_text() -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    assert content_of(TEXT, IMAGE, link) == [
        TEXT,
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
        {"type": "text", "text": '{"type":"resource_link","uri":"file:///a","name":"a"}'},
    ]


@pytest.mark.parametrize(
    "block",
    [
        TEXT,
        IMAGE | {"mimeType": "image/tiff"},
        IMAGE | {"data": "not base64!"},
        IMAGE | {"data": 3},
        "image",
    ],
)
def test_content_without_an_image_that_every_api_takes_is_one_text(block: Any) -> None:
    assert isinstance(content_of(block), str)


@pytest.mark.parametrize("api", ["openai", "anthropic", "ollama"])
def test_every_api_is_sent_the_image_as_one(api: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = CallResult(
        call=CALL, outcome=Outcome(tool="f", uid="u", result={"content": [TEXT, IMAGE]})
    ).message
    provider = CLASSES[api]("m", base_url="http://127.0.0.1:1", api_key="sk-0123456789")
    sent = json.dumps(
        provider.payload(
            [
                {"role": "user", "content": "go"},
                {"role": "assistant", "tool_calls": [call]},
                message,
            ]
        )
    )
    wanted = {
        "openai": '"image_url"',
        "anthropic": '"media_type": "image/png"',
        "ollama": '"images": [',
    }[api]
    assert wanted in sent and sent.count(PIXEL) == 1 and '\\"image\\"' not in sent
