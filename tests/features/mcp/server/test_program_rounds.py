"""Programs that go on after their user was asked, by replay: a file that the tools write to tells
how often each effect was made.
"""

import base64
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import write_tool
from vespe import ToolRegistry, ask
from vespe.calls import log
from vespe.features.mcp.server import protocol, revisions, tool_call
from vespe.features.mcp.server.call_client import OnTheWay
from vespe.features.mcp.server.protocol import PendingCall, ProtocolSession
from vespe.features.mcp.server.selection import Selection
from vespe.features.mcp.server.served_client import ServedClient
from vespe.features.mcp.server.tools import ServedTools
from vespe.projects import user_config
from vespe.projects.init import found_project
from vespe.projects.workspace import open_workspace

pytest.importorskip("pydantic_monty")

META = {
    revisions.REVISION_KEY: revisions.NEWEST,
    revisions.CAPABILITIES_KEY: {"elicitation": {}},
}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
ALLOW = "vespe/allow"


def said(allow: bool) -> dict[str, Any]:
    return {ALLOW: {"action": "accept", "content": {"allow": allow}}}


class CodeDoor:
    """One server of a project in mode `code`: `put` may change something and is asked for, `free`
    changes something too, and `choose` asks a question of its own. Each adds a line to `ran`.
    """

    def __init__(self, root: Path, client: ServedClient) -> None:
        self.root, self.ran = root, root.parent / "ran"
        registry = ToolRegistry()
        for name in ("put", "free", "look"):
            registry.register(self._made(name), name=name)
        registry.register(self._choose, name="choose")
        selection = Selection(mode="code")
        self.tools = ServedTools(open_workspace(root), registry=registry, selection=selection)
        self.session = ProtocolSession(client)

    def _made(self, name: str) -> Any:
        def act(text: str) -> str:
            self.note(f"{name} {text}")
            return text.upper()

        return act

    def _choose(self, text: str) -> str:
        schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
        colour = ask(f"Which colour for {text}?", schema, name="colour").get("colour")
        self.note(f"choose {text} {colour}")
        return str(colour)

    def note(self, line: str) -> None:
        with open(self.ran, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    @property
    def lines(self) -> list[str]:
        return self.ran.read_text(encoding="utf-8").splitlines() if self.ran.exists() else []

    def run(self, code: str, **more: Any) -> Any:
        params = {"name": "run_code", "arguments": {"code": code}, "_meta": META, **more}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        handled = protocol.handle(message, self.session, self.tools)
        assert isinstance(handled, PendingCall)
        way = OnTheWay(notify=lambda message: None, cancel=threading.Event())
        answer = tool_call.run(handled, self.tools, way)
        return answer.get("result", answer.get("error"))

    def answered(self, code: str, *answers: Any) -> Any:
        """Run a program, and give each question the next answer."""
        result = self.run(code)
        for answer in answers:
            assert result["resultType"] == "input_required", result
            result = self.run(code, requestState=result["requestState"], inputResponses=answer)
        return result


@pytest.fixture
def door(home: Path, tmp_path: Path) -> Iterator[CodeDoor]:
    root = tmp_path / "shop"
    root.mkdir()
    found_project(root)
    for name in ("put", "free", "choose", "look"):
        hints = {"readOnlyHint": True} if name == "look" else {}
        write_tool(root / f".vespe/tools/tool-{name}", name, schema=TEXT, annotations=hints)
    user_config.set_value("approvals.ask", ["put", "look"])
    made = CodeDoor(root, ServedClient("a token"))
    yield made
    made.tools.close()


LOOP = """\
import random
from datetime import datetime
began = str(datetime.now()) + str(random.random())
free(text="before")
done = []
for name in ["a", "b", "c"]:
    try:
        done.append(put(text=name))
    except PermissionError:
        done.append("no")
    free(text="after " + name)
done
"""


def result_in(result: Any) -> Any:
    return json.loads(result["content"][0]["text"])


def test_p79_a_program_goes_on_with_each_answer_and_makes_no_effect_twice(door: CodeDoor) -> None:
    result = door.answered(LOOP, said(True), said(False), said(True))
    assert result_in(result) == ["A", "no", "C"]
    assert door.lines == [
        *("free before", "put a", "free after a", "free after b", "put c", "free after c")
    ]
    lines = log.read(str(door.root))
    assert {line["parent"] for line in lines[:-1]} == {lines[-1]["call"]}
    assert [line["tool"] for line in lines[-2:]] == ["free", "run_code"]


def test_the_question_has_the_line_of_the_program(door: CodeDoor) -> None:
    asked = door.run(LOOP)["inputRequests"][ALLOW]["params"]["message"]
    assert "`put` would run" in asked and "line 8: done.append(put(text=name))" in asked


def test_p79_a_state_of_a_program_is_good_once(door: CodeDoor) -> None:
    code = "free(text='1')\nput(text='2')\nfree(text='3')"
    state = door.run(code)["requestState"]
    assert result_in_text(door.run(code, requestState=state, inputResponses=said(True))) == "3"
    again = door.run(code, requestState=state, inputResponses=said(True))
    assert "already used" in again["message"] and "have taken effect" in again["message"]
    assert door.lines == ["free 1", "put 2", "free 3"]


def result_in_text(result: Any) -> str:
    return str(result["content"][0]["text"])


def kept_file() -> Path:
    (kept,) = Path(os.environ["XDG_STATE_HOME"]).rglob("asking/programs/*")
    return kept


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda door: kept_file().unlink(), "no longer exists"),
        (lambda door: kept_file().write_text("{}", encoding="utf-8"), "was changed"),
        (lambda door: edited(door, "tool-free"), ""),
    ],
    ids=["gone", "changed", "a tool that was called is edited"],
)
def test_p79_what_was_kept_is_taken_as_it_was_or_not_at_all(
    spoil: Any, why: str, door: CodeDoor
) -> None:
    code = "free(text='1')\nput(text='2')"
    state = door.run(code)["requestState"]
    assert kept_file().stat().st_mode & 0o777 == 0o600
    spoil(door)
    result = door.run(code, requestState=state, inputResponses=said(True))
    if why:
        assert why in result["message"] and "nothing more was run" in result["message"]
        assert door.lines == ["free 1"]
    else:
        assert door.lines == ["free 1", "put 2"]


def edited(door: CodeDoor, directory: str) -> None:
    config = door.root / f".vespe/tools/{directory}/config.json"
    config.write_text(
        config.read_text(encoding="utf-8").replace("written by hand", "written by another"),
        encoding="utf-8",
    )


OTHERS: dict[str, Any] = {
    "another program": ("put(text='other')", None),
    "another client": (None, ServedClient("another token")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_p79_a_state_is_for_one_program_of_one_client(name: str, door: CodeDoor) -> None:
    code, client = OTHERS[name]
    state = door.run("put(text='1')")["requestState"]
    if client is not None:
        door.session = ProtocolSession(client)
    result = door.run(code or "put(text='1')", requestState=state, inputResponses=said(True))
    assert "cannot be used" in result["message"] and door.lines == []


def test_p79_an_answer_is_for_the_call_that_was_asked_about(door: CodeDoor) -> None:
    code = "put(text='1')\nput(text='2')"
    asked = door.answered(code, said(True))
    assert asked["resultType"] == "input_required" and door.lines == ["put 1"]
    # without a state nothing was asked yet: all begins anew, and asks
    assert door.run(code, inputResponses=said(True))["resultType"] == "input_required"
    assert door.lines == ["put 1"]


def test_p79_a_tool_that_changes_while_its_call_waits_is_asked_about_anew(door: CodeDoor) -> None:
    state = door.run("put(text='1')")["requestState"]
    edited(door, "tool-put")
    again = door.run("put(text='1')", requestState=state, inputResponses=said(True))
    assert again["resultType"] == "input_required" and door.lines == []
    state = again["requestState"]
    door.run("put(text='1')", requestState=state, inputResponses=said(True))
    assert door.lines == ["put 1"]


def test_a_program_that_made_calls_and_whose_tool_is_gone_is_not_said_never_to_have_run(
    door: CodeDoor,
) -> None:
    code = "free(text='a')\nput(text='b')\nlook(text='c')"
    asked = door.run(code)
    assert asked["resultType"] == "input_required" and door.lines == ["free a"]
    user_config.set_value("approvals.deny", ["look"])
    done = door.run(code, requestState=asked["requestState"], inputResponses=said(True))
    told = done["content"][0]["text"]
    assert done["isError"] and "the program had made 1 call, and cannot go on" in told
    assert "called 'look'" in told and "was not run" not in told and door.lines == ["free a"]


def test_a_tool_of_a_program_asks_and_the_same_question_of_two_calls_has_two_answers(
    door: CodeDoor,
) -> None:
    code = "free(text='x')\n[choose(text='wall'), choose(text='wall')]"
    blue, red = (
        {"colour": {"action": "accept", "content": {"colour": colour}}}
        for colour in ("blue", "red")
    )
    assert result_in(door.answered(code, blue, red)) == ["blue", "red"]
    assert door.lines == ["free x", "choose wall blue", "choose wall red"]


def test_calls_that_are_made_together_are_asked_about_one_after_another(door: CodeDoor) -> None:
    code = (
        "import asyncio\n"
        "await asyncio.gather(look(text='1'), look(text='2'), free(text='3'), look(text='4'))"
    )
    result = door.answered(code, said(True), said(True), said(True))
    assert result_in(result) == ["1", "2", "3", "4"]
    assert sorted(door.lines) == ["free 3", "look 1", "look 2", "look 4"]


def test_more_than_can_be_kept_is_refused_in_a_sentence(
    door: CodeDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vespe.features.mcp.server import program_rounds

    monkeypatch.setattr(program_rounds, "MOST_BYTES", 100)
    said_no = door.run("free(text='1')\nput(text='2')")
    assert "can be kept while its user is asked" in said_no["message"]
    assert door.lines == ["free 1"]


@pytest.mark.parametrize("code", ["put(text='2')", "1"])
def test_what_belongs_to_states_that_expired_is_swept(code: str, door: CodeDoor) -> None:
    door.run("put(text='1')")
    old = kept_file()
    os.utime(old, (0, 0))
    door.run(code)
    assert not old.exists()


def test_what_was_kept_is_gone_once_the_program_goes_on(door: CodeDoor) -> None:
    code = "free(text='1')\nput(text='2')\nput(text='3')"
    state = door.run(code)["requestState"]
    first = kept_file()
    state = door.run(code, requestState=state, inputResponses=said(True))["requestState"]
    assert not first.exists() and kept_file() != first
    assert result_in_text(door.run(code, requestState=state, inputResponses=said(True))) == "3"
    assert not list(first.parent.iterdir()) and door.lines == ["free 1", "put 2", "put 3"]


def test_what_belongs_to_a_question_that_is_asked_once_more_is_as_new_as_the_question(
    door: CodeDoor,
) -> None:
    code = "free(text='1')\nchoose(text='wall')"
    state = door.run(code)["requestState"]
    before = time.time() - 900
    os.utime(kept_file(), (before, before))
    wrong = {"colour": {"action": "accept", "content": {"colour": 5}}}
    again = door.run(code, requestState=state, inputResponses=wrong)
    assert again["resultType"] == "input_required"
    assert kept_file().stat().st_mtime > before + 600


def test_the_state_that_a_client_is_given_holds_no_result(door: CodeDoor) -> None:
    state = door.run("free(text='a word that is kept')\nput(text='2')")["requestState"]
    payload = base64.urlsafe_b64decode(state.partition(".")[0] + "==")
    assert b"A WORD" not in payload and b"a word" not in payload
