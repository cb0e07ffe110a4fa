"""A recorded server, replayed: by hand, and to the official SDK's client."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.support.mcp_servers import ByHand, definition
from tests.support.ondisk import PATIENCE_S, vespe
from vespe.features.mcp.recordings.replay import Replay
from vespe.features.mcp.recordings.server_recording import Exchange, ServerRecording


def replay(*exchanges: tuple[str, dict[str, Any], Any], told: list[str] | None = None) -> Replay:
    made = tuple(
        Exchange(number=n, method=method, params=params, answer=answer)
        for n, (method, params, answer) in enumerate(exchanges)
    )
    warned: list[str] = [] if told is None else told
    recording = ServerRecording(path="r.jsonl", server="s", exchanges=made)
    return Replay(recording, warn=warned.append)


def ask(server: Replay, method: str, **params: Any) -> list[dict[str, Any]]:
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    return list(server.answers(json.dumps(message).encode()))


def called(name: str, arguments: Any, answer: Any) -> tuple[str, dict[str, Any], Any]:
    return "tools/call", {"name": name, "arguments": arguments}, {"result": answer}


def test_a_repeated_call_is_answered_in_order_and_the_last_answer_stays() -> None:
    server = replay(called("t", {"a": 1, "b": 2}, "one"), called("t", {"b": 2, "a": 1}, "two"))
    found = [ask(server, "tools/call", name="t", arguments={"b": 2.0, "a": 1}) for _ in range(3)]
    assert [answer["result"] for (answer,) in found] == ["one", "two", "two"]
    assert all(answer["id"] == 7 for (answer,) in found)


class Counted(tuple[Exchange, ...]):
    """Exchanges that count how often they were read."""

    reads = 0

    def __iter__(self) -> Iterator[Exchange]:
        type(self).reads += 1
        return super().__iter__()


def test_each_client_begins_anew_and_the_recording_is_read_once_for_all() -> None:
    answers = [called("t", {}, "one"), called("t", {}, "two")]
    made = Counted(
        Exchange(number=n, method=method, params=params, answer=answer)
        for n, (method, params, answer) in enumerate(answers)
    )
    recording = ServerRecording(path="r.jsonl", server="s", exchanges=made)
    first = Replay(recording, warn=print)
    assert ask(first, "tools/call", name="t")[0]["result"] == "one"
    for other in (first.begun_anew(), first.begun_anew()):
        found = [ask(other, "tools/call", name="t")[0]["result"] for _ in range(2)]
        assert found == ["one", "two"]
    assert ask(first, "tools/call", name="t")[0]["result"] == "two" and Counted.reads == 1


def test_a_miss_is_an_error_that_says_nothing_of_the_arguments() -> None:
    told: list[str] = []
    server = replay(called("t", {"a": 1}, "one"), told=told)
    for arguments in ({"a": 2}, {"a": True}, {"a": 1, "b": "s3cret"}, {}):
        (answer,) = ask(server, "tools/call", name="t", arguments=arguments)
        assert answer["error"]["code"] == -32602 and answer["error"]["data"] == {
            "code": "not_recorded"
        }
    assert told[2] == (
        "r.jsonl: the recording has no call of 't' with these arguments, but 1 with others"
    )
    assert ask(server, "tools/list")[0]["error"]["code"] == -32601
    ask(server, "x\nvespe: error: y\x1b[2J")
    assert told[-1] == r"r.jsonl: the recording has no x\nvespe: error: y\x1b[2J"
    assert ask(server, "ping")[0]["result"] == {}


def test_any_text_stands_for_a_secret_that_was_struck_out() -> None:
    server = replay(
        called("t", {"key": "***", "text": "use *** and *** now"}, "secret"),
        called("t", {}, "plain"),
    )

    def answered(**arguments: Any) -> bool:
        return "result" in ask(server, "tools/call", name="t", arguments=arguments)[0]

    assert answered(key="k", text="use a and b now") and answered(
        key="***", text="use *** and *** now"
    )
    assert answered(key=12, text="use a and and b and c now")
    assert not answered(key="", text="use a and b now") and not answered(
        key="k", text="use  and b now"
    )
    assert not answered(key="k", text="use a and b later") and not answered(key="k")
    long = "use " + "and " * 50_000 + "x"
    assert not answered(key="k", text=long)


def test_notifications_come_before_the_answer_under_the_clients_token() -> None:
    step = {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 2}}
    log = {"method": "notifications/message", "params": {"level": "info", "data": "x"}}
    exchange = Exchange(
        number=1,
        method="tools/call",
        params={"name": "t"},
        answer={"result": 1},
        notified=(step, log),
    )
    recording = ServerRecording(path="r", server="s", exchanges=(exchange,))
    server = Replay(recording, warn=lambda said: None)
    first = ask(server, "tools/call", name="t", arguments={}, _meta={"progressToken": "mine"})
    assert [one.get("method", "answer") for one in first] == [
        "notifications/progress",
        "notifications/message",
        "answer",
    ]
    assert first[0]["params"]["progressToken"] == "mine"
    assert len(ask(server, "tools/call", name="t")) == 2


def test_what_had_no_answer_is_an_error_and_what_is_no_request_is_told() -> None:
    server = replay(
        ("tools/call", {"name": "t", "arguments": {}}, None), ("subscriptions/listen", {}, None)
    )
    assert "gave no answer" in ask(server, "tools/call", name="t")[0]["error"]["message"]
    assert ask(server, "subscriptions/listen", notifications={}) == []
    assert next(server.answers(b"{nonsense"))["error"]["code"] == -32700
    assert next(server.answers(None))["error"]["code"] == -32700
    assert list(server.answers(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')) == []


def seen(cwd: Path, *command: str) -> list[str]:
    """What the official client sees of a server that is started by `python -m vespe`."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "vespe", *command], cwd=cwd, env=dict(os.environ)
    )

    async def main() -> list[str]:
        with anyio.fail_after(PATIENCE_S):
            async with mcp.Client(stdio_client(parameters)) as client:
                found: list[Any] = [await client.list_tools()]
                for arguments in ({"text": "größer"}, {"text": "s3cret-4711"}, {"text": "größer"}):
                    found.append(await client.call_tool("echo", arguments))
                return [one.model_dump_json() for one in found]

    return anyio.run(main)


def test_a_client_sees_the_recorded_server_as_it_saw_the_real_one(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "s3cret-4711")
    server = ByHand(project / "server", *(definition(f"t{n}") for n in range(20)), definition())
    file = project / "recorded.jsonl"
    live = seen(project, "mcp", "wrap", "--record", str(file), "--", *server.command)
    data = file.read_text(encoding="utf-8")
    assert "s3cret-4711" not in data and "größer" in data and len(live) == 4
    (project / "server/server.py").unlink()  # a miss cannot be a call
    again = seen(project, "mcp", "serve", "--replay", str(file))
    assert again == [one.replace("s3cret-4711", "***") for one in live]
    kit = vespe(
        *("kit", "add-mcp", "rec", "--yes", "--activate", "--"),
        *(sys.executable, "-m", "vespe", "mcp", "serve", "--replay", str(file)),
        cwd=project,
    )
    assert kit.returncode == 0, kit.stderr


def test_what_cannot_be_recorded_or_replayed_is_a_sentence(project: Path) -> None:
    file = project / "r.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    for words, code, sentence in (
        (
            ("mcp", "serve", "--replay", "r.jsonl"),
            4,
            "r.jsonl: is not a recording of an MCP server",
        ),
        (("mcp", "serve", "--replay", "none.jsonl"), 1, "none.jsonl"),
        (("mcp", "serve", "--replay", "r.jsonl", "--read-only"), 2, "leave out the options"),
        (("mcp", "serve", "--replay", "r.jsonl", "--http", "0"), 4, "is not a recording of an MCP"),
        (("mcp", "wrap", "--record", "r.jsonl", "--", "true"), 6, "already exists"),
    ):
        done = vespe(*words, cwd=project)
        assert sentence in " ".join(done.stderr.split()), done
        assert done.returncode == code, done
    assert file.read_text(encoding="utf-8") == "{}\n"
