"""The loop: what it asks, runs, answers, and where it ends."""

import contextlib
import json
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import (
    NUMBER,
    READ_ONLY,
    Bench,
    assert_consistent,
    call,
    results,
)
from tests.support.ondisk import PATIENCE_S
from vespe import Limits, Transcript
from vespe.errors import ProviderError
from vespe.features.agents import transcripts
from vespe.features.agents.loop import told_limit
from vespe.features.agents.providers.turns import text_of


def test_the_results_go_back_under_their_ids_and_the_model_goes_on_until_it_calls_nothing(
    bench: Bench,
) -> None:
    bench.tool("double", lambda n: n * 2, schema=NUMBER)
    result = bench.agent(
        [call("double", {"n": 2}), call("double", {"n": 3})], [call("double", {"n": 4})], "eight"
    ).run("go")
    assert (result.stop_reason, result.text, result.iterations) == ("done", "eight", 3)
    assert [text for _, text in results(result.messages)] == ["4", "6", "8"]
    assert_consistent(result.messages)


def test_streamed_or_not_in_order_or_at_the_same_time_the_transcript_is_the_same(
    bench: Bench,
) -> None:
    gate = threading.Barrier(2, timeout=PATIENCE_S)
    bench.tool("together", lambda n: (gate.wait(), n)[1], schema=NUMBER, annotations=READ_ONLY)
    bench.tool("apart", lambda n: n, schema=NUMBER)
    turns: list[Any] = [
        [call("together", {"n": 1}), call("together", {"n": 2})],
        [call("apart", {"n": 3}), call("apart", {"n": 4})],
        "end",
    ]
    streamed, whole = (bench.agent(*turns, stream=stream).run("go") for stream in (True, False))
    assert streamed.messages == whole.messages and [
        text for _, text in results(whole.messages)
    ] == ["1", "2", "3", "4"]


def test_calls_run_in_order_where_one_of_the_tools_is_neither_read_only_nor_idempotent(
    bench: Bench,
) -> None:
    bench.tool("read", lambda: time.sleep(0.05), annotations=READ_ONLY)
    bench.tool("write")
    bench.agent([call("read"), call("write"), call("read"), call("write")], "end").run("go")
    assert bench.ran == ["read", "write", "read", "write"]


def test_p40c_a_model_that_calls_for_ever_is_told_at_the_limit_and_gets_one_turn_without_tools(
    bench: Bench,
) -> None:
    bench.tool("more")
    last = {"match": {"contains": "Call no more tools"}, "text": "enough"}
    result = bench.agent(*[[call("more")]] * 5, last).run("go")
    assert (result.stop_reason, result.text, len(bench.ran)) == ("max_iterations", "enough", 5)
    assert result.messages[-2] == {"role": "user", "content": told_limit(5)}


def test_p40c_calls_in_the_last_turn_are_answered_as_not_run(bench: Bench) -> None:
    bench.tool("more")
    result = bench.agent(*[[call("more")]] * 3, limits=Limits(max_iterations=2)).run("go")
    assert (result.stop_reason, len(bench.ran), result.open_calls) == ("max_iterations", 2, 0)
    assert "not run: the limit of 2 rounds" in results(result.messages)[-1][1]
    assert_consistent(result.messages)


def test_p40c_an_id_runs_once_whether_it_repeats_in_a_turn_or_in_a_later_one(bench: Bench) -> None:
    bench.tool("once")
    turns = [
        [call("once", id="a"), call("once", id="a")],
        [call("once", id="a"), call("once", id="b")],
        "end",
    ]
    result = bench.agent(*turns).run("go")
    assert bench.ran == ["once", "once"]
    told = results(result.messages)
    assert [call_id for call_id, _ in told] == ["a", "a", "a", "b"] and all(
        "runs only once" in told[index][1] for index in (1, 2)
    )


@pytest.mark.parametrize(
    "arguments", ['{"n": 1', "[]", "null", "1", '{"n": 1} {"n": 2}', '{"n": 1, "n": 2}', " "]
)
def test_p40c_arguments_that_are_no_json_object_are_answered_and_never_run(
    bench: Bench, arguments: str
) -> None:
    bench.tool("touchy")
    result = bench.agent([call("touchy", arguments)], "sorry").run("go")
    assert (bench.ran, result.stop_reason) == ([], "done")
    assert result.messages[2]["is_error"] and "cannot be read" in result.messages[2]["content"]


def test_empty_arguments_run_as_an_empty_object(bench: Bench) -> None:
    bench.tool("easy")
    bench.agent([call("easy", "")], "done").run("go")
    assert bench.ran == ["easy"]


def test_an_unknown_tool_a_violation_and_a_tools_error_are_each_told_in_words_to_act_on(
    bench: Bench,
) -> None:
    bench.tool("double", lambda n: n * 2, schema=NUMBER)
    bench.tool("broken", lambda: 1 / 0)
    result = bench.agent([call("dubble"), call("double", {"n": "x"}), call("broken")], "end").run(
        "go"
    )
    unknown, violation, failed = (text for _, text in results(result.messages))
    assert (
        "did you mean double?" in unknown
        and "n" in violation
        and "mend the call" in violation
        and "ZeroDivisionError" in failed
    )


def test_a_cut_answers_call_without_arguments_does_not_run(bench: Bench) -> None:
    bench.tool("easy")
    result = bench.agent(
        {"tool_calls": [call("easy", ""), call("easy", "")], "finish_reason": "length"}, "end"
    ).run("go")
    assert bench.ran == [] and "was cut off" in results(result.messages)[1][1]


def test_calls_count_whatever_the_stop_reason_says(bench: Bench) -> None:
    bench.tool("easy")
    result = bench.agent({"tool_calls": [call("easy")], "finish_reason": "stop"}, "end").run("go")
    assert bench.ran == ["easy"] and result.text == "end"


def test_p40c_a_connection_that_breaks_leaves_the_conversation_as_it_was_and_runs_nothing(
    bench: Bench,
) -> None:
    bench.tool("easy")
    agent = bench.agent({"tool_calls": [call("easy")], "fail": {"cut": 250}})
    with pytest.raises(ProviderError):
        agent.run("go")
    assert bench.ran == [] and [message["role"] for message in agent.transcript.messages] == [
        "user"
    ]


def test_p40c_the_limit_on_calls_leaves_the_rest_waiting_and_a_later_run_takes_up_exactly_these(
    bench: Bench,
) -> None:
    bench.tool("step")
    agent = bench.agent([call("step")] * 3, "end", limits=Limits(max_calls=2))
    first = agent.run("go")
    assert (first.stop_reason, len(bench.ran), first.open_calls) == ("max_calls", 2, 1)
    second = agent.run()
    assert (second.stop_reason, len(bench.ran), second.text) == ("done", 3, "end")
    assert_consistent(second.messages)


def test_p40c_the_limit_on_tokens_ends_the_run(bench: Bench) -> None:
    bench.tool("step")
    usage = {"prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110}
    result = bench.agent(
        {"tool_calls": [call("step")], "usage": usage}, limits=Limits(max_tokens=100)
    ).run("go")
    assert (result.stop_reason, bench.ran, result.open_calls) == (
        "max_tokens",
        [],
        1,
    ) and result.usage["total_tokens"] == 110


def test_p40c_the_limit_on_time_ends_the_request_that_is_on_its_way(bench: Bench) -> None:
    result = bench.agent({"fail": {"stall": True}}, limits=Limits(max_seconds=0.2)).run("go")
    assert (result.stop_reason, result.text) == ("max_seconds", "")


def test_cancelling_leaves_what_was_not_begun_waiting(bench: Bench) -> None:
    cancel = threading.Event()
    bench.tool("first", lambda: cancel.set())
    bench.tool("second")
    result = bench.agent([call("first"), call("second")]).run("go", cancel=cancel)
    assert (result.stop_reason, bench.ran, result.open_calls) == ("cancelled", ["first"], 1)


@pytest.mark.parametrize("seed", range(30))
def test_p40c_interrupted_at_any_moment_and_resumed_no_call_is_lost_or_run_twice(
    bench: Bench, seed: int
) -> None:
    ran: list[int] = []
    bench.tool("read", lambda n: ran.append(n), schema=NUMBER, annotations=READ_ONLY)
    bench.tool("write", lambda n: ran.append(n), schema=NUMBER)
    turns: list[Any] = [
        [call("write", {"n": 1}), call("read", {"n": 2})],
        [call("read", {"n": n}) for n in (3, 4, 5)],
        "end",
    ]
    left = random.Random(seed).randrange(1, 28)  # any moment will do, the same one each time

    def interrupting(_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt

    transcript = Transcript(keep=interrupting)
    with contextlib.suppress(KeyboardInterrupt):
        bench.agent(*turns, transcript=transcript, on_event=interrupting).run("go")
    assert_consistent(transcript.messages)
    kept = json.loads(json.dumps(transcript.as_document()))
    again = Transcript(kept["messages"], started=kept.get("vespe", {}).get("started", ()))
    said = sum(message["role"] == "assistant" for message in again.messages)
    if again.messages and said < len(turns):
        bench.agent(*turns[said:], transcript=again).run()
        assert_consistent(again.messages)
        assert len(results(again.messages)) == 5
    assert len(ran) == len(set(ran))


def test_a_resumed_conversation_runs_only_what_has_no_result(bench: Bench, tmp_path: Path) -> None:
    bench.tool("step")
    calls = [
        {"id": name, "type": "function", "function": {"name": "step", "arguments": "{}"}}
        for name in ("x", "y", "z")
    ]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": calls},
    ]
    (tmp_path / "kept.json").write_text(
        json.dumps([*messages, {"role": "tool", "tool_call_id": "y", "content": "y!"}]),
        encoding="utf-8",
    )
    result = bench.agent("end", transcript=transcripts.load(tmp_path / "kept.json")).run()
    assert bench.ran == ["step", "step"] and [
        call_id for call_id, _ in results(result.messages)
    ] == ["x", "y", "z"]


def test_a_call_that_an_earlier_session_began_is_answered_as_interrupted(bench: Bench) -> None:
    bench.tool("step")
    calls = [
        {"id": name, "type": "function", "function": {"name": "step", "arguments": "{}"}}
        for name in ("x", "y")
    ]
    transcript = Transcript(
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": calls},
        ],
        started=[0],
    )
    result = bench.agent("end", transcript=transcript).run()
    assert bench.ran == ["step"] and "earlier session" in results(result.messages)[0][1]


def test_a_new_prompt_comes_behind_the_results_of_the_calls_that_waited(bench: Bench) -> None:
    bench.tool("step")
    waiting = {"id": "x", "type": "function", "function": {"name": "step", "arguments": "{}"}}
    transcript = Transcript(
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": [waiting]},
        ]
    )
    result = bench.agent("end", transcript=transcript).run("and now?")
    assert [message["role"] for message in result.messages] == [
        "user",
        "assistant",
        "tool",
        "user",
        "assistant",
    ]


def test_events_tell_of_text_calls_and_results_streamed_or_not_with_the_time_before_the_tool_began(
    bench: Bench,
) -> None:
    bench.tool("step")
    for stream in (True, False):
        heard: list[Any] = []
        result = bench.agent(
            {"text": "so", "tool_calls": [call("step")]},
            "end",
            stream=stream,
            on_event=heard.append,
        ).run("go")
        kinds = [event.type for event in heard]
        assert kinds.index("text") < kinds.index("tool_start") < kinds.index("tool_result")
        assert (
            result.calls[0].timing["wait_ms"] >= 0
            and heard[kinds.index("tool_result")].data["timing"] == result.calls[0].timing
        )


def test_a_text_is_all_of_a_contents_texts() -> None:
    assert (
        text_of(
            [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]
        ),
        text_of(None),
    ) == ("ab", "")


def test_p40c_the_limit_on_calls_of_one_tool_is_told_to_the_model_and_the_run_goes_on(
    bench: Bench,
) -> None:
    for name in ("f", "g"):
        bench.tool(name)
    turns = ([call("f"), call("f"), call("g")], [call("f")], "end")
    result = bench.agent(*turns, limits=Limits(max_calls_per_tool=1)).run("go")
    assert (result.stop_reason, bench.ran) == ("done", ["f", "g"])
    assert ["the limit of 1 call of 'f'" in text for _, text in results(result.messages)] == [
        False,
        True,
        False,
        True,
    ]
