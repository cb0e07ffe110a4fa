"""The client of one call: how its user is asked in each revision."""

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S
from tests.support.stdio_client import LineClient, served
from vespe.calls.asking import CallSuspended, PersonReply, ToolQuestion
from vespe.calls.policy import Question
from vespe.errors import NeedsInput, Refused
from vespe.features.mcp.server.call_client import (
    CallClient,
    OnTheWay,
    RoundCallClient,
    TaskCallClient,
    WaitingCallClient,
)
from vespe.features.mcp.server.served_client import ServedClient
from vespe.models import JsonObject, Tool
from vespe.projects import user_config

TOOL = Tool(uid="t", name="send", description="Send it.", input_schema={})
MAY = Question(tool=TOOL, inputs={"to": "me"}, why="a rule asks")
YES = {"action": "accept", "content": {"allow": True}}
BOUND: JsonObject = {"tool": "send"}


def question(key: str = "color", text: str = "Which color?") -> ToolQuestion:
    schema = {"type": "object", "properties": {"color": {"type": "string"}}}
    return ToolQuestion(tool="send", text=text, schema=schema, key=key)


def rounds(client: ServedClient, responses: Any = None, state: Any = None) -> RoundCallClient:
    made = RoundCallClient(client, responses=responses, state=state)
    made.begin(lambda: BOUND)
    return made


def wanted(by: RoundCallClient, ask: Any) -> Any:
    with pytest.raises(CallSuspended):
        ask(by)
    return by.result()


def test_without_elicitation_nobody_is_asked() -> None:
    by = CallClient(ServedClient())
    assert by.asks is False
    with pytest.raises(NeedsInput, match="'send' need the user's approval"):
        by.check_allowed(MAY)
    with pytest.raises(NeedsInput, match="'send' asks the user a question"):
        by.reply(question())


def answering(client: ServedClient, result: Any, *, cancel: bool = True) -> WaitingCallClient:
    def notify(message: JsonObject) -> None:
        client.questions.take({"jsonrpc": "2.0", "id": message["id"], "result": result})

    event = threading.Event() if cancel else None
    return WaitingCallClient(client, OnTheWay(notify=notify, cancel=event))


def test_a_call_waits_for_the_answer_of_a_client_with_a_handshake() -> None:
    client = ServedClient()
    answering(client, YES).check_allowed(MAY)
    for no in ({"action": "decline"}, {"action": "accept", "content": {"allow": False}}):
        with pytest.raises(Refused, match="denied this call of 'send'"):
            answering(client, no).check_allowed(MAY)
    with pytest.raises(NeedsInput, match="nothing was run"):
        answering(client, {"action": "accept"}).check_allowed(MAY)
    blue = answering(client, {"action": "accept", "content": {"color": "blue"}}).reply(question())
    assert blue.content == {"color": "blue"}


def test_a_call_in_the_thread_that_takes_requests_does_not_wait_there() -> None:
    by = answering(ServedClient(), YES, cancel=False)
    for ask in (lambda: by.check_allowed(MAY), lambda: by.reply(question())):
        with pytest.raises(CallSuspended):
            ask()


def test_an_approval_counts_with_its_state_alone(home: Any) -> None:
    client = ServedClient()
    asked = wanted(rounds(client, {"vespe/allow": YES}), lambda by: by.check_allowed(MAY))
    assert list(asked["inputRequests"]) == ["vespe/allow"]
    rounds(client, {"vespe/allow": YES}, asked["requestState"]).check_allowed(MAY)


def test_another_question_than_the_one_that_was_answered_is_asked_anew(home: Any) -> None:
    client = ServedClient()
    state = wanted(rounds(client), lambda by: by.check_allowed(MAY))["requestState"]
    other = Question(tool=TOOL, inputs={"to": "me"}, why="it has read untrusted content")
    wanted(rounds(client, {"vespe/allow": YES}, state), lambda by: by.check_allowed(other))


def test_the_same_question_has_the_same_answer_in_the_rounds_that_follow(home: Any) -> None:
    client = ServedClient()
    first = rounds(client)
    asked = wanted(first, lambda by: by.check_allowed(MAY))
    second = rounds(client, {"vespe/allow": YES}, asked["requestState"])
    second.check_allowed(MAY)
    asked = wanted(second, lambda by: by.reply(question()))
    assert list(asked["inputRequests"]) == ["color"]
    blue = {"color": {"action": "accept", "content": {"color": "blue"}}}
    third = rounds(client, blue, asked["requestState"])
    third.check_allowed(MAY)  # it was allowed in an earlier round
    assert third.reply(question()).content == {"color": "blue"}
    asked = wanted(third, lambda by: by.reply(question("size", "Which size?")))
    size = {"size": {"action": "decline"}}
    fourth = rounds(client, size, asked["requestState"])
    fourth.check_allowed(MAY)
    assert fourth.reply(question()).content == {"color": "blue"}
    assert fourth.reply(question("size", "Which size?")).action == "decline"


def test_an_answer_to_another_question_of_the_same_name_is_not_taken(home: Any) -> None:
    client = ServedClient()
    blue = {"color": {"action": "accept", "content": {"color": "blue"}}}
    by = rounds(client, blue)
    assert by.reply(question()).content == {"color": "blue"}
    state = wanted(by, lambda by: by.reply(question("size", "Which size?")))["requestState"]
    wanted(rounds(client, {}, state), lambda by: by.reply(question(text="Which color else?")))


def test_an_answer_that_did_not_fit_is_asked_for_anew(home: Any) -> None:
    by = rounds(ServedClient(), {"color": {"action": "accept", "content": {"color": 5}}})
    by.reply(question())
    again = ToolQuestion(
        tool="send", text="Which color?", schema=question().schema, key="color", problem="a string"
    )
    asked = wanted(by, lambda by: by.reply(again))
    assert "did not fit: a string" in asked["inputRequests"]["color"]["params"]["message"]


MARKED = {
    "type": "object",
    "properties": {"mark": {"type": "string"}},
    "required": ["mark"],
}
ASKS = """
import os, vespe

project = vespe.Project()

@project.register
@vespe.tool
def note(mark: str) -> str:
    open("marks", "a").write(mark + "\\n")
    return mark

@project.register
@vespe.tool
def color() -> str:
    said = vespe.ask("Which color?", {"type": "object", "properties": {"c": {"type": "string"}},
                                      "required": ["c"]}, name="color")
    open("marks", "a").write(said["c"] + "\\n")
    return said["c"]

@project.register
@vespe.tool(read_only=True)
def add(a: int, b: int) -> int:
    return a + b

vespe.serve_stdio(project)
"""
ELICITS = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "x", "version": "1"},
}


@contextlib.contextmanager
def asking(project: Path) -> Iterator[LineClient]:
    """A server whose tool `note` is asked for, with a client that elicits."""
    user_config.set_value("approvals.ask", ["note"])
    with served(project, code=ASKS) as client:
        client.ask("initialize", ELICITS)
        yield client


def begin(client: LineClient, identifier: int, name: str = "note", **arguments: Any) -> str:
    """Call a tool, and return the id of the question that comes."""
    client.send("tools/call", {"name": name, "arguments": arguments}, id=identifier)
    question = client.read()
    assert question["method"] == "elicitation/create", question
    return str(question["id"])


def reply(client: LineClient, question: str, action: str = "accept", **content: Any) -> None:
    result = {"action": action} | ({"content": content} if content else {})
    client.write(json.dumps({"jsonrpc": "2.0", "id": question, "result": result}).encode() + b"\n")


def marks(project: Path) -> list[str]:
    file = project / "marks"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def test_two_questions_at_once_and_answers_that_come_twice(project: Path) -> None:
    with asking(project) as client:
        assert client.names() == ["add", "color", "note"]
        one, other = begin(client, 1, mark="one"), begin(client, 2, mark="other")
        assert client.call("add", a=1, b=2)["content"][0]["text"] == "3" and not marks(project)
        for _ in range(2):
            reply(client, other, allow=True)
        assert client.read()["id"] == 2
        for allow in (False, True):
            reply(client, one, allow=allow)
        denied = client.read()
        assert denied["id"] == 1 and denied["result"]["isError"]
        assert client.call("add", a=1, b=2)["content"][0]["text"] == "3"
    assert marks(project) == ["other"]


def test_a_call_that_is_cancelled_at_its_question_is_not_run(project: Path) -> None:
    with asking(project) as client:
        question = begin(client, 1, mark="one")
        client.send("notifications/cancelled", {"requestId": 1})
        told = client.read()
        assert told["method"] == "notifications/cancelled"
        assert told["params"]["requestId"] == question
        reply(client, question, allow=True)
        assert client.call("add", a=1, b=2)["content"][0]["text"] == "3"
        begin(client, 2, "color")
        client.send("notifications/cancelled", {"requestId": 2})
        assert client.read()["method"] == "notifications/cancelled"
    assert not marks(project)


def test_a_client_that_leaves_at_a_question_ends_the_server_and_nothing_runs(
    project: Path,
) -> None:
    with asking(project) as client:
        for identifier in range(3):
            begin(client, identifier, mark="one")
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.process.wait(PATIENCE_S) == 0
    assert not marks(project)


def test_questions_that_nobody_answers_keep_no_other_call_waiting(project: Path) -> None:
    with asking(project) as client:
        waiting = [begin(client, identifier, mark=str(identifier)) for identifier in range(30)]
        assert client.call("add", a=1, b=2)["content"][0]["text"] == "3"
        for question in waiting:
            reply(client, question, action="cancel")
        assert {client.read()["id"] for _ in waiting} == set(range(30))
    assert not marks(project)


def test_an_answer_that_does_not_fit_is_asked_for_anew_and_then_told(project: Path) -> None:
    with asking(project) as client:
        question = begin(client, 1, "color")
        reply(client, question, c=5)
        again = client.read()
        assert "did not fit" in again["params"]["message"]
        reply(client, again["id"], c="blue")
        assert client.read()["result"]["content"][0]["text"] == "blue"
        for action in ("decline", "cancel"):
            reply(client, begin(client, 2, "color"), action=action)
            assert client.read()["result"]["isError"]
    assert marks(project) == ["blue"]


def test_a_call_that_is_a_task_waits_for_its_answers_there_and_until_then_asks_by_rounds(
    home: Any,
) -> None:
    client, asked, texts = ServedClient(), list[str](), list[str]()

    def by(action: Any, **content: Any) -> TaskCallClient:
        def task(question: ToolQuestion) -> PersonReply:
            asked.append(question.key)
            texts.append(question.text)
            return PersonReply(action=action, content=content)

        way = OnTheWay(notify=lambda message: None, cancel=threading.Event())
        asker = None if action is None else task
        made = TaskCallClient(client, way, lambda: asker, responses=None, state=None)
        made.begin(lambda: BOUND)
        return made

    by("accept", allow=True).check_allowed(MAY)
    assert by("accept", color="blue").reply(question()).content == {"color": "blue"}
    with pytest.raises(Refused, match="denied this call"):
        by("decline").check_allowed(MAY)
    by("accept", allow=True).reply(question("vespe/allow"))
    assert asked == ["vespe/allow", "color", "vespe/allow", "tool:vespe/allow"]
    assert "The tool `send` asks" in texts[1] and "`send` would run" in texts[0]
    assert "vespe/allow" in wanted(by(None), lambda by: by.check_allowed(MAY))["inputRequests"]
