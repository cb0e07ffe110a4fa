"""Record and replay: the same answers without a network, and a clear failure where the conversation
is another one.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.providers import test_anthropic, test_ollama
from tests.features.agents.providers.serving import (
    CHUNKS,
    HELLO,
    KEY,
    USER,
    asking,
    cut,
    in_turn,
    said,
    sent,
    stream,
)
from tests.support.loopback import Loopback
from vespe.adapters.streams.base import StreamEvent
from vespe.errors import Diverged, InvalidDocument, ProviderError, StorageError
from vespe.features.agents.providers.simulated import SimulatedProvider
from vespe.features.agents.recordings import RecordingProvider, ReplayProvider
from vespe.models import Failure, JsonObject, Outcome
from vespe.projects import user_config

STREAMS = {"openai": CHUNKS, "anthropic": test_anthropic.STREAM, "ollama": test_ollama.STREAM}
SECOND: list[JsonObject] = [
    *USER,
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "And now?"},
]


def unheard(_: StreamEvent) -> None:
    return None


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Two turns, one streamed and one not."""
    path = tmp_path / "recording.json"
    with asking(in_turn(stream(CHUNKS), said(HELLO))) as (inner, _):
        provider = RecordingProvider(inner, str(path))
        provider.create_message(USER, on_event=unheard)
        provider.create_message(SECOND)
    return path


@pytest.mark.parametrize("api", STREAMS)
def test_a_recording_gives_the_same_answer_and_events_again_without_a_network(
    api: str, tmp_path: Path
) -> None:
    path, events = str(tmp_path / "r.json"), [list[StreamEvent](), list[StreamEvent]()]
    with asking(stream(STREAMS[api], "x"), api) as (inner, server):
        recorded = RecordingProvider(inner, path).respond(USER, on_event=events[0].append)
    replay = ReplayProvider(path)
    assert replay.respond(USER, on_event=events[1].append) == recorded
    assert events[0] == events[1] and (replay.name, replay.api, replay.model) == (api, api, "m")
    assert len(server.requests) == 1
    replay.check_finished()


def test_a_replay_streams_or_not_as_it_was_recorded(recording: Path) -> None:
    replay, events = ReplayProvider(recording), list[StreamEvent]()
    assert replay.create_message(USER)["content"] == "Hello"
    assert replay.create_message(SECOND, on_event=events.append)["content"] == "Hello"
    assert [event.type for event in events] == ["text", "usage", "done"]


def test_a_conversation_of_the_simulated_provider_is_recorded_too(tmp_path: Path) -> None:
    path = str(tmp_path / "r.json")
    RecordingProvider(SimulatedProvider({"turns": [{"text": "Hi"}]}), path).create_message(USER)
    assert ReplayProvider(path).create_message(USER)["content"] == "Hi"


def test_p36_no_key_and_no_header_stands_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    echo = CHUNKS.replace(b"Hel", f"your key is {KEY} ".encode())
    with asking(
        in_turn(stream(echo), said({"error": {"message": KEY}}, status=401)),
        headers={"X-Secret": "h1dden-header"},
    ) as (inner, _):
        provider = RecordingProvider(inner, path)
        provider.create_message(USER, on_event=unheard)
        with pytest.raises(ProviderError):
            provider.create_message(USER)
    text = path.read_text(encoding="utf-8")
    assert (
        KEY not in text
        and "h1dden" not in text
        and "uthorization" not in text
        and "your key is ***" in text
    )
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_file_is_the_same_each_time_and_says_nothing_twice(
    recording: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again.json"
    replay = ReplayProvider(str(recording))
    provider = RecordingProvider(replay, str(again))
    provider.create_message(USER, on_event=unheard)
    provider.create_message(SECOND)
    assert again.read_bytes() == recording.read_bytes()
    document = json.loads(again.read_bytes())
    assert [turn["same_messages"] for turn in document["turns"]] == [0, 1]
    assert [turn["same"] for turn in document["turns"]] == [[], ["model"]]
    assert [len(turn["request"]["messages"]) for turn in document["turns"]] == [1, 2]


# Where a conversation is another one


@pytest.mark.parametrize(
    ("messages", "options", "pointer", "told"),
    [
        (
            [{"role": "user", "content": "Ho"}],
            {},
            "/messages/0/content",
            '"Hi" was recorded, and now it is "Ho"',
        ),
        ([*USER, *USER], {}, "/messages/1", "is new"),
        ([], {}, "/messages/0", "and now there is nothing"),
        (USER, {"temperature": 1}, "/temperature", "1 is new"),
    ],
)
def test_another_request_is_told_with_its_turn_and_the_pointer_of_the_first_difference(
    messages: Any, options: JsonObject, pointer: str, told: str, recording: Path
) -> None:
    with pytest.raises(
        Diverged, match=f"^request 1 is not the one of the recording .*: at {pointer} "
    ) as caught:
        ReplayProvider(str(recording)).create_message(messages, options=options)
    assert (caught.value.turn, caught.value.pointer) == (1, pointer) and told in str(caught.value)


def test_a_conversation_that_goes_on_longer_or_ends_sooner_is_told(recording: Path) -> None:
    replay = ReplayProvider(str(recording))
    replay.create_message(USER)
    with pytest.raises(Diverged, match="has 2 turns, and the conversation ended after 1"):
        replay.check_finished()
    replay.create_message(SECOND)
    replay.check_finished()
    with pytest.raises(Diverged, match="has 2 turns, and this is request 3") as caught:
        replay.create_message(SECOND)
    assert (caught.value.turn, caught.value.pointer) == (3, "/turns/2")


# Failures


def test_a_failure_is_recorded_and_raised_again(tmp_path: Path) -> None:
    path = str(tmp_path / "r.json")
    with asking(
        in_turn(
            said({"error": {"message": "no", "code": "c"}}, "x-request-id: r", status=400),
            cut(CHUNKS, 150),
        )
    ) as (inner, _):
        provider = RecordingProvider(inner, path)
        first = [failed(provider), failed(provider)]
    replay = ReplayProvider(path)
    assert [failed(replay), failed(replay)] == first
    assert (
        first[0][1] == {"status": 400, "vendor_code": "c", "request_id": "r", "transient": False}
        and "closed the connection" in first[1][0]
    )


def failed(provider: RecordingProvider | ReplayProvider) -> tuple[str, JsonObject, list[str]]:
    events: list[StreamEvent] = []
    with pytest.raises(ProviderError) as caught:
        provider.respond(USER, on_event=events.append)
    return str(caught.value), caught.value.details, [event.text for event in events]


def test_a_crash_keeps_the_turns_so_far(tmp_path: Path) -> None:
    path = str(tmp_path / "r.json")
    with asking(in_turn(said(HELLO), stream(CHUNKS))) as (inner, _):
        provider = RecordingProvider(inner, path)
        provider.create_message(USER)
        with pytest.raises(KeyboardInterrupt):
            provider.create_message(SECOND, on_event=interrupt)
    replay = ReplayProvider(path)
    assert replay.create_message(USER)["content"] == "Hello"
    replay.check_finished()


def interrupt(_: StreamEvent) -> None:
    raise KeyboardInterrupt


def test_a_file_that_cannot_be_written_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    with asking(said(HELLO)) as (inner, server):
        with pytest.raises(StorageError, match="cannot write"):
            RecordingProvider(inner, str(tmp_path / "nowhere" / "r.json"))
        assert server.connections == 0


# Outcomes of tools


def test_outcomes_come_back_by_their_calls_each_once(tmp_path: Path) -> None:
    path = str(tmp_path / "r.json")
    failure = Failure(code="tool_error", message="no", retryable=True, details={"a": 1}, hint="try")
    outcomes = [
        Outcome(tool="f", uid="u", result={"a": [1]}, logs="l", notes=("n",)),
        Outcome(tool="f", uid=None, error=failure),
    ]
    with asking(said(HELLO)) as (inner, _):
        provider = RecordingProvider(inner, path)
        for outcome in outcomes:
            provider.record_outcome("c1", outcome)
    replay = ReplayProvider(path)
    assert [replay.recorded_outcome("c1") for _ in range(3)] == [*outcomes, None]
    assert replay.recorded_outcome("c2") is None


def test_why_a_conversation_ended_comes_back(recording: Path, tmp_path: Path) -> None:
    assert ReplayProvider(str(recording)).stop_reason == "cancelled"
    path = str(tmp_path / "ended.json")
    with asking(said(HELLO)) as (inner, _):
        provider = RecordingProvider(inner, path)
        provider.create_message(USER)
        provider.record_end("max_calls")
    replay = ReplayProvider(path)
    assert (replay.stop_reason, replay.is_over) == ("max_calls", False)
    replay.create_message(USER)
    assert replay.is_over


def test_replaying_needs_neither_a_key_nor_an_endpoint(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Loopback() as server:
        monkeypatch.setitem(os.environ, "OPENAI_BASE_URL", server.url())
        assert ReplayProvider(str(recording)).create_message(USER)["content"] == "Hello"
        assert server.connections == 0


def test_an_api_that_nobody_knows_is_told(recording: Path) -> None:
    document = json.loads(recording.read_bytes()) | {"api": "other"}
    recording.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InvalidDocument, match="an API that Vespe does not know") as caught:
        ReplayProvider(str(recording))
    assert caught.value.pointer == "/api"


def test_what_an_endpoint_wants_back_is_the_recordings_to_say(home: Path, tmp_path: Path) -> None:
    user_config.set_value("providers.openai.keep", ["reasoning_content"])
    spoken = [*USER, {"role": "assistant", "content": "a", "reasoning_content": "hm"}, *USER]
    with asking(said(HELLO)) as (inner, server):
        RecordingProvider(inner, str(tmp_path / "r.json")).create_message(spoken)
        assert sent(server)[2]["messages"][1]["reasoning_content"] == "hm"
    user_config.unset_value("providers.openai.keep")
    assert ReplayProvider(str(tmp_path / "r.json")).create_message(spoken)["content"] == "Hello"


def test_p36_a_prompt_with_the_key_is_recorded_without_it_and_replayed_all_the_same(
    tmp_path: Path,
) -> None:
    spoken, path = [{"role": "user", "content": f"my key is {KEY}, or?"}], tmp_path / "r.json"
    with asking(said(HELLO)) as (inner, _):
        RecordingProvider(inner, str(path)).create_message(spoken)
    assert KEY not in path.read_text(encoding="utf-8")
    assert ReplayProvider(str(path)).create_message(spoken)["content"] == "Hello"
