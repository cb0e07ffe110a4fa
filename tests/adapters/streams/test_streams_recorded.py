"""Real recordings of 26 vendors, cut in every way, give the calls that they hold, and what the
vendors' SDKs make of them.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ollama
import pytest

from tests.adapters.streams.streams import (
    CASES,
    SIZES,
    Recording,
    anthropic_message,
    differences,
    fed,
    fed_in_places,
    kept,
    of_corpus,
    openai_completion,
    openai_response,
    result,
    value,
    values,
)
from tests.support.loopback import Exchange, Loopback
from vespe.adapters.streams.base import StreamEvent

KEPT = kept()
IDS = [recording.name for recording in KEPT]
JUDGES: dict[str, Callable[[bytes], dict[str, Any]]] = {
    "openai": openai_completion,
    "anthropic": anthropic_message,
    "openai-responses": openai_response,
}
REASONS = json.loads((CASES / "sdk_differences.json").read_text(encoding="utf-8"))


def assert_expected_calls(recording: Recording) -> None:
    processor, _ = fed(recording.api, recording.body)
    calls = processor.get_tool_calls()
    wanted = [
        (call["name"], call.get("arguments_invalid_json", call.get("arguments")))
        for call in recording.calls
    ]
    assert values(calls) == wanted, recording.name
    assert all(
        call["id"] and call["id"] == (given["id"] or call["id"])
        for call, given in zip(calls, recording.calls, strict=True)
    )
    assert processor.has_tool_calls() == bool(wanted)


def assert_cuts_change_nothing(recording: Recording) -> None:
    whole, events = fed(recording.api, recording.body)
    for size in SIZES:
        cut, cut_events = fed(recording.api, recording.body, size)
        assert (cut_events, result(cut)) == (events, result(whole)), (
            f"{recording.name} in pieces of {size}"
        )


def assert_events_add_up(recording: Recording) -> None:
    processor, events = fed(recording.api, recording.body)
    arguments = [
        "".join(e.text for e in events if e.type == "tool_arguments" and e.index == n)
        for n in range(len(recording.calls))
    ]
    assert [value(text) for text in arguments] == [
        given for _, given in in_order_of_arrival(processor.get_tool_calls(), events)
    ]
    assert [event.type for event in events].count("done") == 1
    if recording.api != "anthropic":
        said = "".join(
            event.text
            for event in events
            if event.type == "text" and not event.index and not event.data
        )
        assert (said or None) == processor.message()["content"], recording.name


def in_order_of_arrival(
    calls: list[dict[str, Any]], events: list[StreamEvent]
) -> list[tuple[str, Any]]:
    starts = [event.call_id for event in events if event.type == "tool_start"]
    return values(
        sorted(
            calls,
            key=lambda call: starts.index(call["id"]) if call["id"] in starts else len(starts),
        )
    )


@pytest.mark.parametrize("recording", KEPT, ids=IDS)
def test_a_recording_yields_the_expected_calls(recording: Recording) -> None:
    assert_expected_calls(recording)


@pytest.mark.parametrize("recording", KEPT, ids=IDS)
def test_a_recording_gives_the_same_events_and_messages_however_it_is_cut(
    recording: Recording,
) -> None:
    assert_cuts_change_nothing(recording)
    assert_events_add_up(recording)


@pytest.mark.parametrize("recording", KEPT, ids=IDS)
def test_a_recording_is_gathered_as_the_vendors_sdk_gathers_it(recording: Recording) -> None:
    if recording.api in JUDGES:
        unexplained, _ = against_the_sdk(recording)
        assert unexplained == []


@pytest.mark.parametrize("recording", [r for r in KEPT if r.api == "ollama"], ids=lambda r: r.name)
def test_ollamas_own_client_reads_the_same(recording: Recording) -> None:
    def answer(exchange: Exchange) -> bool:
        return exchange.reply(recording.body, kind="application/x-ndjson")

    with (
        Loopback(answer) as server,
        ollama.Client(host=f"http://{server.host}", verify=False) as client,
    ):
        chunks = list(client.chat(model="m", messages=[], stream=True))
    native = fed("ollama", recording.body)[0].native_message()
    assert "".join(chunk.message.content or "" for chunk in chunks) == native["message"]["content"]
    theirs = [
        (call.function.name, dict(call.function.arguments))
        for chunk in chunks
        for call in chunk.message.tool_calls or ()
    ]
    assert [
        (call["function"]["name"], call["function"]["arguments"])
        for call in native["message"].get("tool_calls", ())
    ] == theirs
    last = chunks[-1]
    assert (native["done"], native["done_reason"], native["eval_count"]) == (
        last.done,
        last.done_reason,
        last.eval_count,
    )


def test_every_recording_of_the_corpus_yields_the_expected_calls(shared: Path) -> None:
    for recording in of_corpus(shared):
        assert_expected_calls(recording)
        assert_events_add_up(recording)


def test_every_recording_of_the_corpus_gives_the_same_however_it_is_cut(shared: Path) -> None:
    for recording in of_corpus(shared):
        whole, events = fed(recording.api, recording.body)
        for cut, cut_events in (
            fed_in_places(recording.api, recording.body),
            fed(recording.api, recording.body, 64),
        ):
            assert (cut_events, result(cut)) == (events, result(whole)), recording.name


def test_every_recording_of_the_corpus_is_gathered_as_the_vendors_sdks_do_but_for_listed_reasons(
    shared: Path,
) -> None:
    met: Counter[int] = Counter()
    wrong: list[str] = []
    for recording in of_corpus(shared):
        if recording.api in JUDGES:
            unexplained, reasons = against_the_sdk(recording)
            wrong += unexplained
            met.update(reasons)
    assert wrong == []
    assert [reason for at, reason in enumerate(REASONS) if not met[at]] == [], (
        "the SDK no longer differs there"
    )


def against_the_sdk(recording: Recording) -> tuple[list[str], set[int]]:
    """Give what differs from the SDK for no listed reason, and the places of the reasons that were
    met.
    """
    try:
        theirs = JUDGES[recording.api](recording.body)
    except Exception as error:  # what an SDK raises for others' bodies is anything at all
        found = {
            at
            for at, r in enumerate(REASONS)
            if r["raises"] == type(error).__name__ and r["file"] == Path(recording.name).name
        }
        return (
            [] if found else [f"{recording.name}: the SDK raises {type(error).__name__}: {error}"]
        ), found
    met: set[int] = set()
    unexplained = []
    for pointer, mine, other in differences(
        fed(recording.api, recording.body)[0].native_message(), theirs
    ):
        reasons = {
            at for at, reason in enumerate(REASONS) if explains(reason, recording, pointer, other)
        }
        met |= reasons
        unexplained += (
            []
            if reasons
            else [f"{recording.name}{pointer}: {mine!r:.80} where the SDK has {other!r:.80}"]
        )
    return unexplained, met


def explains(reason: dict[str, Any], recording: Recording, pointer: str, theirs: Any) -> bool:
    if (
        reason["api"] != recording.api
        or reason["raises"]
        or reason["file"] not in ("", Path(recording.name).name)
    ):
        return False
    return bool(re.fullmatch(reason["pointer"], pointer)) and (
        theirs is None or reason["theirs"] != "nothing"
    )
