"""Recordings and conversations of 0.2 replay and go on, and no call that had begun is run again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.compatibility.world import World, edit, read, write
from tests.support.loopback import Exchange, Loopback
from vespe import Agent, Project, SimulatedProvider, Transcript
from vespe.agents.recordings import RecordingProvider, ReplayProvider
from vespe.errors import Diverged, InvalidDocument

ASK = ("agent", "run", "What is six times seven?", "--tools", "calc", "--approve", "all")
CALL_IDS = {"local": "call_6x7", "anthropic": "toolu_6x7", "ollama": "vespe_call_1"}
SIMULATED = ("--provider", "simulated", "--script", "more.json")


def script(world: World, *turns: Any) -> tuple[str, ...]:
    write(world.shop / "more.json", json.dumps({"turns": list(turns)}))
    return SIMULATED


@pytest.mark.parametrize("provider", CALL_IDS)
def test_a_recording_of_every_api_replays_without_a_network_and_without_a_tool(
    provider: str, frozen: World
) -> None:
    result = frozen.json(*ASK, "--replay", f"{provider}.recording.json")
    assert (result["text"], result["stop_reason"], result["iterations"]) == ("It is 42.", "done", 2)
    (call,) = result["calls"]
    assert (call["id"], call["ran"], call["outcome"]["result"]) == (CALL_IDS[provider], False, 42)
    talk = read(frozen.shop / f"{provider}.talk.json")
    assert talk["messages"] == result["messages"]


def test_a_call_that_was_refused_then_is_told_in_the_same_words_in_a_replay(frozen: World) -> None:
    """The second request holds the error message: with another wording the replay would fail."""
    result = frozen.start(*ASK, "--replay", "simulated.recording.json", "--json").document
    assert [call["outcome"]["ok"] for call in result["calls"]] == [True, False]
    assert result["calls"][1]["outcome"]["error"]["code"] == "invalid_arguments"


BRIDGE = ("agent", "run", "What is six times seven?", "--tools-mode", "bridge")


def test_a_recording_with_the_tools_of_the_bridge_replays(frozen: World) -> None:
    """0.2 described these tools in other words, which no user can mend by recording again."""
    result = frozen.json(*BRIDGE, "--replay", "bridge.recording.json")
    assert (result["text"], result["iterations"]) == ("It is 42.", 4)
    called = [call["name"] for call in result["calls"]]
    assert called == ["search_tools", "describe_tool", "calculate"]
    assert result["calls"][2]["outcome"]["result"] == 42


def test_a_recording_with_the_tools_of_the_bridge_still_differs_where_others_do(
    frozen: World, tmp_path: Path
) -> None:
    kept = tmp_path / "bridge.json"
    write(kept, (frozen.shop / "bridge.recording.json").read_text(encoding="utf-8"))

    def change(recording: Any) -> None:
        tools = recording["turns"][0]["request"]["tools"]
        (search,) = [one for one in tools if one["function"]["name"] == "search_tools"]
        search["function"]["parameters"]["properties"]["limit"]["maximum"] = 19

    edit(kept, change)
    assert "/properties/limit/maximum" in frozen.run(*BRIDGE, "--replay", str(kept), code=1).err


def test_a_recording_of_a_run_that_was_killed_replays_as_far_as_it_goes(frozen: World) -> None:
    words = (
        "agent",
        "run",
        "Note both.",
        "--tools",
        "note",
        "--approve",
        "all",
        "--replay",
        "killed.recording.json",
    )
    assert frozen.json(*words, code=1)["open_calls"] == 2
    assert not (frozen.shop / "notes.txt").exists()


def test_a_replay_differs_where_the_question_or_a_tool_is_another_one(world: World) -> None:
    other = ("agent", "run", "Another question?", *ASK[3:], "--replay", "local.recording.json")
    assert "/messages/0/content" in world.run(*other, code=1).err
    edit(
        world.shop / ".vespe/config.json",
        lambda config: config["tools"]["calc"].update(description="Other words."),
    )
    world.run("trust", "--yes")
    assert (
        "/tools/0/function/description"
        in world.run(*ASK, "--replay", "local.recording.json", code=1).err
    )


def test_a_recording_and_a_conversation_are_held_to_the_tools_of_now(world: World) -> None:
    for talk in ("local.recording.json", "anthropic.talk.json"):
        held = world.json("agent", "run", "--replay", talk, "--tools", "live")
        assert (held["differences"], [call["state"] for call in held["calls"]]) == (0, ["same"])
    calc = world.shop / ".vespe/tools/tool-calc/calc.py"
    write(calc, calc.read_text(encoding="utf-8").replace("a * b", "a * b + 1"))
    world.run("trust", "--yes")
    assert (
        world.json("agent", "run", "--replay", "local.recording.json", "--tools", "live", code=1)[
            "differences"
        ]
        == 1
    )


def test_a_program_reads_recordings_by_their_public_names(frozen: World, tmp_path: Path) -> None:
    asked = [{"role": "user", "content": "What is six times seven?"}]
    for provider, call_id in CALL_IDS.items():
        replayed = ReplayProvider(frozen.shop / f"{provider}.recording.json", compare=False)
        call, said = replayed.create_message(asked), replayed.create_message(asked)
        arguments = json.loads(call["tool_calls"][0]["function"]["arguments"])
        assert (arguments, said["content"]) == ({"a": 6, "b": 7}, "It is 42.")
        outcome = replayed.recorded_outcome(call_id)
        assert outcome is not None and outcome.unwrap() == 42
    with pytest.raises(Diverged):
        ReplayProvider(frozen.shop / "local.recording.json").create_message(asked)  # it had a tool
    again = RecordingProvider(
        SimulatedProvider({"turns": [{"text": "Hi."}]}), tmp_path / "new.json"
    )
    again.create_message(asked)
    then, now = (
        read(path) for path in (frozen.shop / "simulated.recording.json", tmp_path / "new.json")
    )
    assert (now["version"], now["provider"], now["api"]) == (
        then["version"],
        then["provider"],
        then["api"],
    )


def test_what_is_no_recording_of_then_is_still_refused(world: World) -> None:
    edit(world.shop / "local.recording.json", lambda recording: recording.update(version=99))
    with pytest.raises(InvalidDocument, match="version 99"):
        ReplayProvider(world.shop / "local.recording.json")


# ---- conversations


@pytest.mark.parametrize("provider", CALL_IDS)
def test_a_conversation_goes_on_with_the_provider_and_the_model_that_it_had(
    provider: str, world_of: Callable[..., World]
) -> None:
    seen: list[Any] = []

    def answer(exchange: Exchange) -> bool:
        seen.append(json.loads(exchange.body))
        said = {"role": "assistant", "content": "Still 42."}
        openai = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m1",
            "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
        }
        anthropic = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m2",
            "content": [{"type": "text", "text": "Still 42."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        ollama = {
            "model": "m3",
            "created_at": "2024-01-01T00:00:00Z",
            "message": said,
            "done": True,
            "done_reason": "stop",
        }
        return exchange.reply(
            json.dumps(
                {"local": openai, "anthropic": anthropic, "ollama": ollama}[provider]
            ).encode()
        )

    with Loopback(answer) as server:
        world = world_of(port=server.port)
        words = (
            "agent",
            "run",
            "Sure?",
            "--resume",
            f"{provider}.talk.json",
            "--no-stream",
            "--tools",
            "calc",
        )
        assert (
            world.run(*words, env={"SHOP_ANTHROPIC_KEY": "sk-ant-0123456789"}).out == "Still 42.\n"
        )
    (request,) = seen
    assert request["model"] == {"local": "m1", "anthropic": "m2", "ollama": "m3"}[provider]
    messages = request["messages"]
    if provider == "local":
        assert (
            messages[1]["reasoning_content"] == "Six times seven."
            and messages[1]["tool_calls"][0]["id"] == "call_6x7"
        )
    elif provider == "anthropic":
        assert messages[1]["content"][0] == {
            "type": "thinking",
            "thinking": "Six times seven.",
            "signature": "c2lnbmVk",
        }
    else:
        assert messages[1]["tool_calls"][0]["function"]["arguments"] == {"a": 6, "b": 7}
    kept = read(world.shop / f"{provider}.talk.json")
    assert kept["messages"][-1]["content"] == "Still 42." and kept["vespe"]["provider"] == provider


def test_calls_that_wait_are_listed_run_and_denied(world: World) -> None:
    waiting = world.json("agent", "calls", "waiting.talk.json")["calls"]
    assert [(call["id"], call["begun"]) for call in waiting] == [
        ("call_2", False),
        ("call_3", False),
    ]
    world.run("agent", "calls", "waiting.talk.json", "approve", "call_2", "--yes")
    world.run("agent", "calls", "waiting.talk.json", "deny", "call_3")
    assert (world.shop / "notes.txt").read_text(encoding="utf-8") == "second\n"
    results = [
        message
        for message in read(world.shop / "waiting.talk.json")["messages"]
        if message["role"] == "tool"
    ]
    assert [message["tool_call_id"] for message in results] == ["call_1", "call_2", "call_3"]
    assert [bool(message.get("is_error")) for message in results] == [False, False, True]


def test_the_lines_of_a_run_that_was_killed_go_on_without_the_call_that_was_begun(
    world: World,
) -> None:
    waiting = world.json("agent", "calls", "killed.talk.json")["calls"]
    assert [(call["id"], call["begun"]) for call in waiting] == [
        ("call_1", True),
        ("call_2", False),
    ]
    more = script(world, {"text": "Both are noted."})
    words = (
        "agent",
        "run",
        "--resume",
        "killed.talk.json",
        *more,
        "--tools",
        "note",
        "--approve",
        "all",
    )
    result = world.json(*words)
    assert [call["outcome"]["ok"] for call in result["calls"]] == [False, True]
    assert (world.shop / "notes.txt").read_text(encoding="utf-8") == "not begun\n"
    assert read(world.shop / "killed.talk.json")["messages"][-1]["content"] == "Both are noted."


def test_a_last_line_that_is_not_whole_had_not_happened_yet(world: World) -> None:
    lines = (world.shop / "killed.talk.json").read_text(encoding="utf-8")
    write(world.shop / "killed.talk.json", lines + '{"from":2,"messages":[{"role":"to')
    assert len(world.json("agent", "calls", "killed.talk.json")["calls"]) == 2
    begun = lines.rindex('{"from":2')
    write(world.shop / "killed.talk.json", lines[: begun + 12])
    assert [
        call["begun"] for call in world.json("agent", "calls", "killed.talk.json")["calls"]
    ] == [False, False]


def test_what_a_chat_saved_is_taken_up_again(world: World) -> None:
    assert [message["content"] for message in read(world.shop / "chat.talk.json")["messages"]] == [
        "Hi",
        "Hello.",
    ]
    more = script(world, {"text": "Welcome back.", "match": {"role": "user"}})
    words = ("agent", "chat", "--resume", "chat.talk.json", *more, "--no-tools")
    said = world.run(*words, stdin="Here again.\n/save again.json\n")
    assert "Welcome back." in said.out
    assert [message["content"] for message in read(world.shop / "again.json")["messages"]] == [
        "Hi",
        "Hello.",
        "Here again.",
        "Welcome back.",
    ]


def test_a_program_goes_on_with_the_messages_of_a_conversation(at_home: World) -> None:
    talk = read(at_home.shop / "waiting.talk.json")
    transcript = Transcript(talk["messages"], provider=talk["vespe"]["provider"])
    agent = Agent(
        SimulatedProvider({"turns": [{"text": "Done."}]}), Project("."), transcript=transcript
    )
    try:
        result = agent.run(None)
    finally:
        agent.close()
    assert result.text == "Done." and len(transcript.messages) == len(talk["messages"]) + 3
