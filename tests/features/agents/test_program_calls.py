"""Programs that a model writes: each call is asked for, put off, and made once, whatever happens."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vespe import (
    Agent,
    AgentOptions,
    Answer,
    Question,
    SimulatedProvider,
    Toolset,
    Transcript,
    tool,
)
from vespe.adapters.large_results.handles import handle_in
from vespe.calls.policy import CallPolicy
from vespe.features.agents import transcripts
from vespe.features.agents.limits import Limits
from vespe.features.agents.loop import WAITS_FOR_APPROVAL, RunResult
from vespe.features.agents.transcripts import ConversationFile
from vespe.models import Call, JsonObject, Outcome, Tool

pytest.importorskip("pydantic_monty")
CODE = "r = []\nfor n in range(3):\n    r.append(send(n=n))\nprint('sent')\nr"


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
SEND = Tool(uid="u", name="send", description="Send a number.", input_schema=SCHEMA)


class Sender:
    """A set with one tool, whose effect is counted, and a policy that asks about it."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.sent: list[int] = []
        self.seen: list[Question] = []
        self.answer = answer
        self.policy = CallPolicy(ask=None if answer is None else self._ask)
        self.tools = {"send": SEND}

    def _ask(self, question: Question) -> Answer:
        self.seen.append(question)
        assert self.answer is not None
        return self.answer

    def why_not(self, tool: Tool, inputs: JsonObject) -> str:
        return self.policy.why_not(tool, inputs)

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        assert isinstance(call.arguments, dict) and call.parent is not None
        self.sent.append(call.arguments["n"])
        return Outcome(tool=tool.name, uid=tool.uid, result=call.arguments["n"])


YES = Answer(allowed=True)


def agent(tools: Sender, talk: Transcript | None = None, **options: Any) -> Agent:
    turn = {"tool_calls": [{"name": "run_code", "arguments": {"code": CODE}}]}
    answers = [{"text": "ok"}] if talk is not None and talk.open else [turn, {"text": "ok"}]
    given = AgentOptions(tools_mode="code", **options)
    model = SimulatedProvider({"turns": answers})
    return Agent(model, tools=tools, options=given, transcript=talk)


def content(result: RunResult) -> Any:
    return json.loads(next(m["content"] for m in result.messages if m["role"] == "tool"))


def test_a_person_sees_the_line_and_may_allow_all_like_it() -> None:
    sender = Sender(Answer(allowed=True, holds="program"))
    done = agent(sender).run("Send.")
    assert sender.sent == [0, 1, 2] and len(sender.seen) == 1
    assert sender.seen[0].program == "line 3: r.append(send(n=n))"
    assert content(done) == {"result": [0, 1, 2], "printed": "sent\n"}
    assert [len(call.inner) for call in done.calls] == [3]


def test_each_is_asked_about_where_the_answer_holds_once() -> None:
    sender = Sender(YES)
    agent(sender).run("Send.")
    assert len(sender.seen) == 3
    nobody = Sender(Answer(allowed=False, holds="program"))
    denied = agent(nobody).run("Send.")
    assert "PermissionError" in str(denied.messages) and nobody.sent == []


def test_without_a_person_and_a_file_a_call_is_denied_in_the_program() -> None:
    sender = Sender()
    done = agent(sender).run("Send.")
    assert done.stop_reason == "done" and sender.sent == []
    assert "there is no one to ask" in str(done.messages)


def waiting(path: Path, sender: Sender) -> JsonObject:
    talk, file = Transcript(), ConversationFile(path)
    talk.keep = file.keep
    done = agent(sender, talk).run("Send.")
    assert done.stop_reason == WAITS_FOR_APPROVAL and done.open_calls == 1
    file.close(talk)
    held: JsonObject = json.loads(path.read_text(encoding="utf-8"))["vespe"]["programs"]["call_1_1"]
    return held


def test_with_a_file_the_program_waits_and_goes_on_once_each(tmp_path: Path) -> None:
    sender, path = Sender(), tmp_path / "talk.json"
    record = waiting(path, sender)
    assert record["waits"]["id"] == "call_1_1/1" and record["calls"] == [] and sender.sent == []
    talk = transcripts.load(path)
    talk.keep = lambda changed: transcripts.save(changed, path)
    sender = Sender(YES)
    done = agent(sender, talk).run()
    assert sender.sent == [0, 1, 2] and content(done)["result"] == [0, 1, 2]


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_kill_between_two_calls_makes_none_twice(tmp_path: Path, lost: int) -> None:
    """The lines of a conversation that was killed are cut at each change; what was sent before is
    not sent again, and a call that had begun waits for a person's word.
    """
    sender, path = Sender(YES), tmp_path / "talk.json"
    talk, file = Transcript(), ConversationFile(path)
    talk.keep = file.keep
    agent(sender, talk).run("Send.")
    lines = path.read_bytes().splitlines(keepends=True)
    places = [n for n, line in enumerate(lines) if b'"number":' in line]
    assert len(places) == 6  # each began, and ended
    path.write_bytes(b"".join(lines[: places[2 * lost] + 1]))
    again, found = Sender(YES), transcripts.load(path)
    found.keep = lambda changed: None
    done = agent(again, found).run()
    assert done.stop_reason == WAITS_FOR_APPROVAL and again.sent == []
    waits = found.programs["call_1_1"]["waits"]
    assert waits["unknown_outcome"] and waits["id"] == f"call_1_1/{lost + 1}"
    path.write_bytes(b"".join(lines[: places[2 * lost + 1] + 1]))
    again, found = Sender(YES), transcripts.load(path)
    found.keep = lambda changed: None
    done = agent(again, found).run()
    assert again.sent == [0, 1, 2][lost + 1 :] and content(done)["result"] == [0, 1, 2]


def test_a_kill_before_the_program_is_noted_has_it_run(tmp_path: Path) -> None:
    sender, path = Sender(YES), tmp_path / "talk.json"
    talk, file = Transcript(), ConversationFile(path)
    talk.keep = file.keep
    agent(sender, talk).run("Send.")
    lines = path.read_bytes().splitlines(keepends=True)
    (noted,) = (n for n, line in enumerate(lines) if b'"record":' in line and b'"calls":[]' in line)
    path.write_bytes(b"".join(lines[:noted]))
    again, found = Sender(YES), transcripts.load(path)
    found.keep = lambda changed: None
    assert found.started and not found.programs
    done = agent(again, found).run()
    assert again.sent == [0, 1, 2] and content(done)["result"] == [0, 1, 2]


def test_a_program_that_makes_another_call_than_before_has_diverged(tmp_path: Path) -> None:
    sender, path = Sender(), tmp_path / "talk.json"
    waiting(path, sender)
    talk = transcripts.load(path)
    talk.keep = lambda changed: None
    talk.programs["call_1_1"]["calls"] = [{"tool": "send", "digest": "0", "outcome": {"ok": True}}]
    sender = Sender(YES)
    done = agent(sender, talk).run()
    assert "makes another call than before" in str(done.messages) and sender.sent == []


def test_inner_calls_count_among_the_calls_of_the_agent() -> None:
    sender = Sender(YES)
    done = agent(sender, limits=Limits(max_calls=3)).run("Send.")
    assert sender.sent == [0, 1] and "it may make 2 calls" in str(done.messages)


def test_what_is_awaited_runs_in_the_loop_of_who_awaits_it() -> None:
    loops: list[object] = []

    @tool(read_only=True)
    async def where() -> int:
        """Say where this runs."""
        loops.append(asyncio.get_running_loop())
        return 1

    async def main() -> None:
        tools = Toolset(where, tools_mode="code")
        loops.append(asyncio.get_running_loop())
        done = await tools.arun_code("import asyncio\nawait asyncio.gather(where(), where())")
        assert done.outcome.result == [1, 1]
        result = await tools.arun_call("run_code", {"code": "where()"})
        assert result.outcome.result == 1
        bad = await tools.arun_call("run_code", {"code": "were()"})
        assert bad.outcome.error is not None and bad.outcome.error.code == "invalid_program"

    asyncio.run(main())
    assert len(set(map(id, loops))) == 1 and len(loops) == 4


def test_results_are_whole_inside_and_handles_go_in_and_out(home: Path) -> None:
    @tool(read_only=True)
    def rows() -> list[str]:
        """Give many rows."""
        return ["x" * 100] * 2000

    @tool(read_only=True)
    def length(text: str) -> int:
        """Measure a text."""
        return len(text)

    tools = Toolset(rows, length, tools_mode="code")
    done = tools.run_code("found = rows()\nprint(len(found))\nfound")
    assert done.shown is not None and len(done.outcome.result["result"]) == 2000
    handle = handle_in(done.message["content"])
    assert handle is not None
    code = f'length(text={{"$result": "{handle}", "pointer": "/result/0"}})'
    assert tools.run_code(code).outcome.result == 100
    assert tools.run_code(code.replace("text=", "")).outcome.result == 100
    unknown = tools.run_code('length(text={"$result": "r99"})').outcome.error
    assert unknown is not None and "r99" in unknown.message
    refused = tools.run_code('length(text={"result": "r1"})').outcome.error
    assert refused is not None and "Expected `str`" in refused.message
    code = f'given: Any = {{"$result": "{handle}", "pointer": "/result/0"}}\nlength(text=given)'
    assert tools.run_code(f"from typing import Any\n{code}").outcome.result == 100
    within = f'given: Any = [{{"$result": "{handle}"}}]\nlength(text=given)'
    failure = tools.run_code(f"from typing import Any\n{within}").outcome.error
    assert failure is not None and "is inside the argument 'text'" in failure.message


def test_denied_tools_are_unknown_names(
    home: Path, tmp_path: Path, command: Callable[..., Any]
) -> None:
    assert command("kit", "activate", "file_io_without_git").code == 0
    assert command("config", "set", "approvals.deny", '["write_file"]').code == 0
    from vespe import Project

    done = Toolset(Project(), tools_mode="code").run_code("write_file(path='a', content='b')")
    assert done.outcome.error is not None
    assert "there is no tool or variable called 'write_file'" in done.outcome.error.message
