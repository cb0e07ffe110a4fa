"""Events between the loop and whatever drives it."""

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import NUMBER, Bench, call, results
from vespe import Agent, AgentOptions, Call, EventSystem, Limits, StreamEvent
from vespe.calls import log
from vespe.errors import Interrupted
from vespe.features.agents.events import (
    DEFINITIONS_REQUEST,
    DEFINITIONS_RESPONSE,
    GUI_UPDATE,
    REQUEST,
    RESPONSE,
    SUBSCRIBER_ERROR,
)
from vespe.features.agents.providers.simulated import SimulatedProvider
from vespe.models import Tool

TOOL = Tool(uid="u", name="f", description="", input_schema={})


def test_a_request_carries_its_tool_and_the_response_is_found_by_its_id() -> None:
    events, seen = EventSystem(), list[Any]()

    def driver(request: Any) -> None:
        seen.append(request)
        events.publish(RESPONSE, {"request_id": "another", "result": "not this"})
        events.publish(RESPONSE, {"request_id": request["request_id"], "result": {"n": 1}})
        events.publish(RESPONSE, {"request_id": request["request_id"], "result": "too late"})

    events.subscribe(REQUEST, driver)
    assert events.execute("f", {"a": 1}) == {"n": 1}
    assert seen[0].keys() == {"request_id", "tool_name", "tool_input"} and (
        seen[0]["tool_name"],
        seen[0]["tool_input"],
    ) == ("f", {"a": 1})


def test_without_a_response_in_time_the_result_says_so_and_a_window_was_kept_alive() -> None:
    events, beats = EventSystem(timeout_s=0.3), list[Any]()
    events.subscribe(REQUEST, lambda request: None)
    events.subscribe(GUI_UPDATE, beats.append)
    assert events.execute("f", {}) == "ERROR: Timeout executing f" and len(beats) >= 3
    outcome = events.run_tool(TOOL, Call(tool="f"))
    assert outcome.error is not None and (outcome.error.code, outcome.error.message) == (
        "timed_out",
        "ERROR: Timeout executing f",
    )


def test_the_time_is_30_seconds() -> None:
    assert EventSystem().timeout_s == 30.0


def test_responses_come_from_any_thread_in_any_order() -> None:
    events, waiting = EventSystem(), list[Any]()
    lock = threading.Lock()

    def driver(request: Any) -> None:
        with lock:
            waiting.append(request)
            if len(waiting) < 20:
                return
        for one in reversed(waiting):
            data = {"request_id": one["request_id"], "result": one["tool_input"]["n"]}
            threading.Thread(target=events.publish, args=(RESPONSE, data)).start()

    events.subscribe(REQUEST, driver)
    answers: dict[int, Any] = {}
    threads = [
        threading.Thread(target=lambda n=n: answers.update({n: events.execute("f", {"n": n})}))
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {n: n for n in range(20)}


def test_where_nobody_executes_the_result_says_so_at_once() -> None:
    assert EventSystem().execute("f", {}) == "ERROR: Nobody executes f"


def test_a_subscriber_that_raises_harms_no_other_and_is_told_of() -> None:
    events, heard = EventSystem(), list[Any]()
    events.subscribe("tick", lambda data: 1 / 0)
    events.subscribe("tick", heard.append)
    events.subscribe(SUBSCRIBER_ERROR, heard.append)
    events.subscribe(SUBSCRIBER_ERROR, lambda data: 1 / 0)
    assert events.publish("tick", {"n": 1}) == 1
    assert heard == [{"event": "tick", "error": "ZeroDivisionError: division by zero"}, {"n": 1}]


def test_who_unsubscribed_hears_nothing_more() -> None:
    events, heard = EventSystem(), list[Any]()
    stop = events.subscribe("tick", heard.append)
    events.publish("tick")
    stop()
    stop()
    events.publish("tick")
    assert len(heard) == 1


def test_waiting_ends_when_it_is_cancelled() -> None:
    events, cancel = EventSystem(), threading.Event()
    events.subscribe(REQUEST, lambda request: cancel.set())
    with pytest.raises(Interrupted):
        events.execute("f", {}, cancel=cancel)
    outcome = events.run_tool(TOOL, Call(tool="f"), cancel=cancel)
    assert outcome.error is not None and outcome.error.code == "interrupted"


def test_an_error_of_the_driver_is_an_error_for_the_model() -> None:
    events = EventSystem()
    events.subscribe(
        REQUEST,
        lambda one: events.publish(
            RESPONSE, {"request_id": one["request_id"], "result": "no such row", "is_error": True}
        ),
    )
    outcome = events.run_tool(TOOL, Call(tool="f"))
    assert outcome.error is not None and outcome.error.message == "no such row"


def test_definitions_are_asked_for_by_event() -> None:
    events = EventSystem()
    assert events.tool_definitions() == []
    assert EventSystem().publish("nobody listens") == 0
    events.subscribe(
        DEFINITIONS_REQUEST,
        lambda one: events.publish(DEFINITIONS_RESPONSE, one | {"tools": [{"name": "f"}]}),
    )
    assert events.tool_definitions() == [{"name": "f"}]


def test_a_window_asks_an_agent_for_its_tools_by_event(bench: Bench) -> None:
    bench.tool("double", schema=NUMBER)
    events, heard = EventSystem(), list[Any]()
    Agent(SimulatedProvider({"turns": []}), bench.project(), events=events)
    events.subscribe(DEFINITIONS_RESPONSE, heard.append)
    events.publish(DEFINITIONS_REQUEST, {"request_id": "mine"})
    assert heard[0]["request_id"] == "mine" and heard[0]["tools"] == events.tool_definitions()
    assert heard[0]["tools"][0]["function"]["name"] == "double"


def test_a_window_drives_the_loop_and_without_it_the_call_path_runs_the_calls(bench: Bench) -> None:
    bench.tool("double", lambda n: n * 2, schema=NUMBER)
    events = EventSystem()
    turns = {"turns": [{"tool_calls": [call("double", {"n": 4})]}, {"text": "end"}]}
    options = AgentOptions(approve="all")
    here = Agent(SimulatedProvider(turns), bench.project(), options=options, events=events).run(
        "go"
    )
    events.subscribe(
        REQUEST,
        lambda one: events.publish(
            RESPONSE, {"request_id": one["request_id"], "result": "from the window"}
        ),
    )
    there = Agent(SimulatedProvider(turns), bench.project(), options=options, events=events).run(
        "go"
    )
    assert [results(one.messages)[0][1] for one in (here, there)] == [
        "8",
        "from the window",
    ] and bench.ran == ["double"]


def test_a_window_is_kept_alive_while_a_tool_runs_here_and_cancelling_ends_the_tool(
    bench: Bench,
) -> None:
    bench.tool("slow", lambda: time.sleep(0.3))
    path = bench.project().call_path()
    events, beats = EventSystem(path), list[str]()
    events.subscribe(GUI_UPDATE, lambda data: beats.append(threading.current_thread().name))
    assert events.run_tool(path.tool("slow"), Call(tool="slow")).ok
    assert len(beats) >= 2 and set(beats) == {threading.current_thread().name}


def test_a_window_is_kept_alive_while_the_model_is_awaited_and_is_told_in_its_own_thread(
    bench: Bench,
) -> None:
    bench.tool("f")
    events, threads = EventSystem(), list[str]()
    events.subscribe(GUI_UPDATE, lambda data: threads.append(threading.current_thread().name))
    script = {"turns": [{"text": "I call.", "tool_calls": [call("f")]}, {"fail": {"stall": True}}]}
    options, heard = AgentOptions(approve="all", limits=Limits(max_seconds=0.5)), list[str]()

    def told(event: StreamEvent) -> None:
        heard.append(event.type)
        threads.append(threading.current_thread().name)

    result = Agent(
        SimulatedProvider(script), bench.project(), options=options, events=events, on_event=told
    ).run("go")
    assert (result.stop_reason, len(results(result.messages)), len(bench.ran)) == (
        "max_seconds",
        1,
        1,
    )
    assert (
        set(threads) == {threading.current_thread().name}
        and threads.count(threads[0]) - len(heard) >= 3
    )
    assert heard[0] == "text" and "tool_result" in heard


def test_what_fails_beside_a_window_fails_in_its_thread() -> None:
    events = EventSystem()
    events.subscribe(GUI_UPDATE, lambda data: None)

    def fails(ending: threading.Event, tell: Any) -> None:
        raise ZeroDivisionError("beside")

    with pytest.raises(ZeroDivisionError, match="beside"):
        events.beside(fails)


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (object(), "cannot be represented in JSON"),
        (float("nan"), "cannot be represented in JSON"),
        ("x" * 9_000_000, "This is a part of the result"),
    ],
)
def test_what_json_cannot_say_is_an_error_for_the_model_and_what_is_too_long_is_shown_in_part(
    bench: Bench, result: Any, told: str
) -> None:
    bench.tool("f")
    events, provider = (
        EventSystem(),
        SimulatedProvider({"turns": [{"tool_calls": [call("f")]}, {"text": "end"}]}),
    )
    events.subscribe(
        REQUEST,
        lambda one: events.publish(RESPONSE, {"request_id": one["request_id"], "result": result}),
    )
    run = Agent(provider, bench.project(), options=AgentOptions(approve="all"), events=events).run(
        "go"
    )
    text = results(run.messages)[0][1]
    assert run.stop_reason == "done" and told in text and len(text) < 2_000_000


def answering(events: EventSystem, result: Any, *, after_s: float = 0.0) -> None:
    """Have every request answered by a thread, after so many seconds."""

    def answer(request: Any) -> None:
        data = {"request_id": request["request_id"], "result": result}
        threading.Timer(after_s, events.publish, args=(RESPONSE, data)).start()

    events.subscribe(REQUEST, answer)


@pytest.mark.parametrize("pathless", [False, True])
@pytest.mark.parametrize(("result", "code"), [({"t": "x"}, None), ({"t": 5}, "invalid_output")])
def test_a_result_by_event_is_held_to_the_output_schema_of_the_tool(
    bench: Bench, result: Any, code: str | None, pathless: bool
) -> None:
    bench.tool("f")
    path = bench.project().call_path()
    tool = replace(
        path.tool("f"), output_schema={"type": "object", "properties": {"t": {"type": "string"}}}
    )
    events = EventSystem(None if pathless else path)
    answering(events, result)
    outcome = events.run_tool(tool, Call(tool="f"))
    assert (outcome.error.code if outcome.error else None) == code
    assert outcome.ok or (
        outcome.error is not None and "breaks its output schema" in outcome.error.message
    )


def test_a_call_by_event_is_in_the_log(bench: Bench) -> None:
    bench.tool("f")
    path = bench.project().call_path()
    events = EventSystem(path)
    answering(events, "done")
    assert events.run_tool(path.tool("f"), Call(tool="f")).result == "done"
    assert [entry["tool"] for entry in log.read(str(bench.root))] == ["f"] and bench.ran == []


@pytest.mark.parametrize(
    ("own_s", "window_s", "after_s", "taken"),
    [(30, 0.05, 0.4, True), (0.2, 30, 5, False), (None, 30, 0, True)],
)
def test_a_tools_own_time_counts_before_the_windows(
    bench: Bench, own_s: float | None, window_s: float, after_s: float, taken: bool
) -> None:
    limits: dict[str, Any] = {} if own_s is None else {"limits": {"timeout_s": own_s}}
    bench.tool("f", **limits)
    path = bench.project().call_path()
    events = EventSystem(path, timeout_s=window_s)
    if after_s < 1:
        answering(events, "done", after_s=after_s)
    else:
        events.subscribe(REQUEST, lambda request: None)
    outcome = events.run_tool(path.tool("f"), Call(tool="f"))
    assert outcome.ok is taken
    assert taken or (
        outcome.error is not None
        and (outcome.error.code, outcome.error.message)
        == ("timed_out", "ERROR: Timeout executing f")
    )


def test_arguments_that_do_not_fit_reach_no_window(bench: Bench) -> None:
    bench.tool("f", schema=NUMBER)
    path = bench.project().call_path()
    events, seen = EventSystem(path), list[Any]()
    events.subscribe(REQUEST, seen.append)
    outcome = events.run_tool(path.tool("f"), Call(tool="f", arguments={"n": "x"}))
    assert outcome.error is not None and outcome.error.code == "invalid_arguments" and seen == []
