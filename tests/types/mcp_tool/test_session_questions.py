"""MCP servers that ask a person, in both ways that the protocol has had: the person is the one whom
every tool asks.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_servers import on_the_sdk
from vespe import Outcome
from vespe.calls.asking import CallSuspended, PersonReply, ToolQuestion
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.models import Call, Failure, Implementation, JsonObject, Tool
from vespe.projects.workspace import open_workspace
from vespe.tools import mcp_definitions
from vespe.types.mcp_tool import older_questions
from vespe.types.mcp_tool.sessions import Sessions

NEWEST = """
from typing import Annotated
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

class Age(BaseModel):
    age: int
    unit: str = "years"

def how_old() -> Elicit[Age]:
    return Elicit("How old?", Age)

server = MCPServer("asks")

@server.tool()
async def book(age: Annotated[ElicitationResult[Age], Resolve(how_old)]) -> str:
    return f"{age.action} {getattr(age, 'data', None)}"

server.run()
"""
EARLIER = """
import json, sys
AGE = {"type": "object", "properties": {"age": {"type": "integer"}, "unit": {"type": "string", "default": "years"}}, "required": ["age"]}
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
waiting, capable = None, False
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        capable = "elicitation" in params["capabilities"]
        say(id=message["id"], result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"}})
    elif method == "tools/list":
        say(id=message["id"], result={"tools": [DEFINITION]})
    elif method == "tools/call" and capable:
        waiting = message["id"]
        say(id="q", method="elicitation/create", params={"message": "How old?", "requestedSchema": AGE})
    elif method == "tools/call":
        say(id=message["id"], error={"code": -32021, "message": "nobody to ask"})
    elif message.get("id") == "q":
        said = message.get("result") or message["error"]
        text = f"{said.get('action')} " + " ".join(f"{k}={v!r}" for k, v in sorted((said.get("content") or {}).items()))
        say(id=waiting, result={"content": [{"type": "text", "text": text}]})
    elif "id" in message and method:
        say(id=message["id"], error={"code": -32601, "message": "no"})
"""
DEFINITION = {"name": "book", "inputSchema": {"type": "object"}}


BOTH = """
from pathlib import Path
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

class Age(BaseModel):
    age: int

server = MCPServer("asks")

@server.tool()
async def book(ctx: Context) -> str:
    with open("begun", "a") as file:
        file.write("x")
    said = await ctx.elicit("How old?", schema=Age)
    return f"{said.action} {said.data}"

server.run()
"""


NEWEST_ALONE = """
import json, sys
ANSWER = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    answer = {"error": {"code": -32601, "message": f"Method not found: {method}"}}
    if method == "server/discover":
        info = {"name": "a", "version": "1"}
        said = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "resources": {}}, "serverInfo": info}
        answer = {"result": {**said, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}}
    elif method == "tools/list":
        answer = {"result": {"tools": [DEFINITION], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}}
    elif method in ("tools/call", "resources/read"):
        print("looked", file=sys.stderr, flush=True)
        answer = ANSWER
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""
UNASKED = {
    "error": {
        "code": -32600,
        "message": "Cannot send 'elicitation/create': this transport context has no back-channel "
        "for server-initiated requests.",
    }
}
PAGE: JsonObject = {
    "result": {
        "content": [{"type": "text", "text": "404: no page Cannot send 'elicitation/create'"}],
        "isError": True,
        "resultType": "complete",
    }
}


class Person:
    """Answers with one reply, and keeps what was asked."""

    def __init__(self, reply: PersonReply) -> None:
        self.reply, self.asked = reply, list[ToolQuestion]()

    def __call__(self, question: ToolQuestion) -> PersonReply:
        self.asked.append(question)
        return self.reply


@pytest.fixture
def sessions() -> Iterator[Sessions]:
    with Sessions() as kept:
        yield kept


@pytest.fixture(params=["newest", "earlier"])
def tool(request: pytest.FixtureRequest, tmp_path: Path) -> Tool:
    text, definition = EARLIER.replace("DEFINITION", repr(DEFINITION)), DEFINITION
    if request.param == "newest":
        text = on_the_sdk(NEWEST)
        definition = {
            "name": "book",
            "description": "",
            "inputSchema": {"type": "object", "properties": {}, "title": "bookArguments"},
        }
    script = tmp_path / "server.py"
    script.write_text(text, encoding="utf-8")
    args: dict[str, Any] = {"command": [sys.executable, str(script)]}
    made = Implementation(type="mcp_tool", entrypoint="book", args=args)
    found = Tool(
        uid="tool-x",
        name="book",
        description="",
        input_schema={"type": "object"},
        implementation=made,
        kit_id="asks",
    )
    if request.param == "newest":
        definition = listed(found, tmp_path)
    args["digest"] = mcp_definitions.digest(definition)
    return found


@pytest.mark.parametrize("kept", [False, True])
def test_a_server_that_can_only_ask_in_an_older_revision_is_reached_in_it_from_the_next_call_on(
    project: Path, tmp_path: Path, sessions: Sessions, kept: bool
) -> None:
    script = tmp_path / "server.py"
    script.write_text(on_the_sdk(BOTH), encoding="utf-8")
    args: dict[str, Any] = {"command": [sys.executable, str(script)]}
    implementation = Implementation(type="mcp_tool", entrypoint="book", args=args)
    schema = {"type": "object"}
    tool = Tool(
        uid="tool-x",
        name="book",
        description="",
        input_schema=schema,
        implementation=implementation,
    )
    args["digest"] = mcp_definitions.digest(listed(tool, tmp_path))
    person = Person(PersonReply(action="accept", content={"age": 7}))
    path = CallPath(
        workspace=open_workspace(str(project)),
        registry=ToolRegistry(),
        trusted=True,
        asker=person,
        sessions=sessions if kept else None,
    )

    def call() -> Outcome:
        return path.run_tool(tool, Call(tool="book", arguments={}, timeout_s=60))

    path = replace(path, asker=None)
    error = call().error
    assert error is not None and error.code == "needs_input", error
    path = replace(path, asker=person)
    error = call().error
    assert error is not None and "elicitation/create" in error.message
    assert error.hint == older_questions.HINT and person.asked == []
    for _ in range(2):
        assert call().result == {"result": "accept age=7"}
    assert [one.text for one in person.asked] == ["How old?"] * 2
    assert (project / "begun").read_text(encoding="utf-8") == "xxxx"


@pytest.fixture
def newest_alone(tmp_path: Path) -> Callable[[Any], Tool]:
    """Return what makes a tool whose server knows 2026-07-28 alone, and answers each call with the
    same.
    """
    script = tmp_path / "server.py"
    script.write_text(NEWEST_ALONE.replace("DEFINITION", repr(DEFINITION)), encoding="utf-8")

    def made(answer: Any, **args: Any) -> Tool:
        args["command"] = [sys.executable, str(script), json.dumps(answer)]
        args["digest"] = mcp_definitions.digest(DEFINITION)
        return Tool(
            uid="tool-x",
            name="book",
            description="",
            input_schema={"type": "object", "properties": {"skill": {"type": "string"}}},
            implementation=Implementation(type="mcp_tool", entrypoint="book", args=args),
        )

    return made


@pytest.fixture
def failed(project: Path) -> Callable[..., Failure]:
    """Return what calls such a tool, and gives the error."""

    def call(tool: Tool, asker: Any, sessions: Sessions | None = None, **given: Any) -> Failure:
        path = CallPath(
            workspace=open_workspace(str(project)),
            registry=ToolRegistry(),
            trusted=True,
            asker=asker,
            sessions=sessions,
        )
        error = path.run_tool(tool, Call(tool="book", arguments=given, timeout_s=60)).error
        assert error is not None
        return error

    return call


@pytest.mark.parametrize(
    "answer", [PAGE, {"error": {"code": -32603, "message": "Cannot send 'elicitation/create'"}}]
)
def test_words_about_a_question_in_a_result_or_another_error_say_nothing_about_the_server(
    project: Path,
    newest_alone: Callable[..., Tool],
    failed: Callable[..., Failure],
    answer: Any,
) -> None:
    tool = newest_alone(answer)
    for asker in (Person(PersonReply(action="decline")), None):
        error = failed(tool, asker)
        assert (error.code, error.hint) == ("tool_error", ""), error
        assert "Cannot send 'elicitation/create'" in error.message
    assert tool.implementation is not None
    assert not older_questions.is_known(tool.implementation.args, str(project))


@pytest.mark.parametrize("kept", [False, True])
def test_a_server_that_refuses_the_handshake_is_called_without_one_and_forgotten(
    project: Path,
    newest_alone: Callable[..., Tool],
    failed: Callable[..., Failure],
    sessions: Sessions,
    kept: bool,
) -> None:
    tool = newest_alone(PAGE)
    assert tool.implementation is not None
    args = tool.implementation.args
    assert older_questions.remember(args, str(project))
    person = Person(PersonReply(action="decline"))
    error = failed(tool, person, sessions if kept else None)
    assert error.message == PAGE["result"]["content"][0]["text"]
    assert not older_questions.is_known(args, str(project))


def test_the_error_of_a_question_without_a_person_has_the_log_of_the_server(
    newest_alone: Callable[..., Tool], failed: Callable[..., Failure]
) -> None:
    error = failed(newest_alone(UNASKED), None)
    assert error.code == "needs_input" and error.details["stderr"] == "looked\n"


def test_a_server_of_skills_is_not_said_to_be_reached_in_an_older_revision(
    project: Path, newest_alone: Callable[..., Tool], failed: Callable[..., Failure]
) -> None:
    main = {"uri": "skill://a/SKILL.md", "digest": "sha256:" + "0" * 64, "size": 1}
    skills = {"a": {"files": {"SKILL.md": main}, "frontmatter": ""}}
    tool = newest_alone(UNASKED, skills=skills)
    assert tool.implementation is not None
    for asker in (Person(PersonReply(action="decline")), None):
        error = failed(tool, asker, skill="a")
        assert (error.code, error.hint) == ("tool_error", ""), error
        assert "Cannot send 'elicitation/create'" in error.message
        assert not older_questions.is_known(tool.implementation.args, str(project))


def listed(tool: Tool, where: Path) -> dict[str, Any]:
    """Return the definition as the SDK's server lists it."""
    from vespe.types.mcp_tool import exchange

    assert tool.implementation is not None
    command = tuple(tool.implementation.args["command"])
    surroundings = exchange.Surroundings(
        directory=str(where), environment={"PATH": os.environ["PATH"]}, timeout_s=60
    )
    answer = exchange.ask(
        exchange.Server(command=command), {}, surroundings, name="book", kit="asks"
    )
    found: dict[str, Any] = answer.document["tools"][0]
    return found


@pytest.fixture
def called(project: Path, tool: Tool) -> Callable[..., Outcome]:
    def call(asker: Any, sessions: Sessions | None = None, **more: Any) -> Outcome:
        path = CallPath(
            workspace=open_workspace(str(project)), registry=ToolRegistry(), trusted=True
        )
        made = Call(tool="book", arguments={}, timeout_s=60)
        return replace(path, asker=asker, sessions=sessions).run_tool(tool, made, **more)

    return call


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (PersonReply(action="accept", content={"age": 7}), "accept age=7 unit='years'"),
        (PersonReply(action="decline"), "decline"),
    ],
)
def test_the_answer_reaches_the_server_in_a_session_of_its_own_and_in_one_that_is_kept(
    called: Callable[..., Outcome], sessions: Sessions, reply: PersonReply, told: str
) -> None:
    person = Person(reply)
    for kept in (None, sessions):
        outcome = called(person, kept)
        assert outcome.ok, outcome.error
        text = json.dumps(outcome.result)
        assert told in text
    assert [(one.tool, one.text) for one in person.asked] == [("book", "How old?")] * 2


def test_without_a_person_the_server_is_told_that_nobody_can_be_asked(
    called: Callable[..., Outcome],
) -> None:
    error = called(None).error
    assert error is not None and error.code == "needs_input", error
    assert "asks the user a question, but there is no one to ask here" in error.message


def test_a_call_that_is_cancelled_or_suspended_at_a_question_ends(
    called: Callable[..., Outcome], sessions: Sessions
) -> None:
    def suspends(question: ToolQuestion) -> PersonReply:
        raise CallSuspended(question)

    cancel = threading.Event()

    def never(question: ToolQuestion) -> PersonReply:
        cancel.set()
        assert question.over.wait(60)
        return PersonReply(action="accept", content={"age": 1})

    error = called(never, sessions, cancel=cancel).error
    assert error is not None and error.code == "interrupted"
    with pytest.raises(CallSuspended):
        called(suspends, None)
