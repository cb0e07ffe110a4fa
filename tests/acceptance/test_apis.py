"""The survey of recordings finds what is whole, and what is not."""

import json
from pathlib import Path

import pytest
import yaml

from tests.acceptance import apis

ITEMS = [
    {"role": "user", "content": "Add."},
    {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "3"},
]
EVENTS = [
    {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
    {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "Three."}},
    {"event_type": "step.stop", "index": 0},
    {"event_type": "interaction.completed", "interaction": {"status": "completed"}},
]


def test_a_cassette_and_a_fixture_are_found_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {"output": [{"type": "reasoning", "id": "r", "summary": []}]}
    row = {
        "request": {
            "uri": "http://127.0.0.1/v1/responses",
            "method": "POST",
            "parsed_body": {"input": ITEMS},
        },
        "response": {"status": {"code": 200}, "parsed_body": answer},
    }
    stateful = json.loads(json.dumps(row))
    stateful["request"]["parsed_body"] = {"input": ITEMS[2:], "previous_response_id": "r"}
    (tmp_path / "cassettes").mkdir()
    (tmp_path / "cassettes/a.yaml").write_text(
        yaml.safe_dump({"interactions": [row, stateful]}), encoding="utf-8"
    )
    (tmp_path / "__fixtures__").mkdir()
    (tmp_path / "__fixtures__/a.chunks.txt").write_text(
        "\n".join(map(json.dumps, EVENTS)), encoding="utf-8"
    )
    monkeypatch.setenv(apis.CHECKOUTS, str(tmp_path))
    monkeypatch.setattr(apis, "SHARED", tmp_path)
    made = apis.surveyed()
    assert made["wrong"] == []
    assert made["counts"]["openai-responses: conversations"] == 1
    assert made["counts"]["openai-responses: conversations of which the vendor keeps a part"] == 1
    assert made["counts"]["gemini: streams"] == 1 and made["counts"]["request: valid"] == 2


def test_a_result_without_its_call_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = apis.Exchange("lonely", "openai-responses", request={"input": ITEMS[2:]})
    monkeypatch.setattr(apis, "exchanges", lambda: iter([row]))
    (told,) = apis.surveyed()["wrong"]
    assert told.startswith("lonely: InvalidDocument") and "answers no call" in told
