"""Tools in processes of their own that ask a person: by a descriptor, at every level and in every
kind of process that makes calls.
"""

import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_tool
from vespe import Outcome
from vespe.calls.asking import CallSuspended, PersonReply, ToolQuestion
from vespe.calls.path import CallPath, open_path
from vespe.calls.registry import ToolRegistry
from vespe.models import Call
from vespe.processes.workers import Workers
from vespe.projects import user_config
from vespe.projects.workspace import open_workspace

AGE = {
    "type": "object",
    "properties": {"age": {"type": "integer", "minimum": 1}},
    "required": ["age"],
}
ASKS = f"""
    import vespe_ask
    return vespe_ask.ask("How old?", {AGE!r}, name="age")
"""


class Person:
    """Answers with one reply, and keeps what was asked."""

    def __init__(self, reply: PersonReply | None = None) -> None:
        self.reply = reply or PersonReply(action="accept", content={"age": 7})
        self.asked: list[ToolQuestion] = []

    def __call__(self, question: ToolQuestion) -> PersonReply:
        self.asked.append(question)
        return self.reply


def shell_tool(project: Path, name: str, script: str) -> None:
    made = write_tool(
        project / f".vespe/tools/tool-{name}",
        name,
        implementation={"type": "shell_command", "path": "run.sh"},
        files={"run.sh": f"#!/bin/sh\n{script}\n"},
    )
    (made / "run.sh").chmod(0o755)


@pytest.fixture
def workers() -> Iterator[Workers]:
    with Workers() as made:
        yield made


def path_of(project: Path, asker: Any, workers: Workers | None = None) -> CallPath:
    if workers is None:
        return CallPath(
            workspace=open_workspace(str(project)),
            registry=ToolRegistry(),
            trusted=True,
            asker=asker,
        )
    path = open_path(open_workspace(str(project)), trusted=True)
    return replace(path, asker=asker, workers=workers)


def called(path: CallPath, name: str, **fields: Any) -> Outcome:
    return path.run(Call(tool=name, arguments={}, **fields))


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_a_python_tool_asks_in_its_own_process_and_in_one_that_is_kept_ready(
    project: Path, sandbox: str, workers: Workers
) -> None:
    user_config.set_value("sandbox", sandbox)
    tools = project / ".vespe/tools"
    python_tool(tools / "tool-asks", "asks", ASKS)
    python_tool(tools / "tool-held", "held", ASKS, permissions={"read": [], "network": []})
    python_tool(tools / "tool-kept", "kept", ASKS, limits={"worker": "persistent"})
    python_tool(tools / "tool-hosts", "hosts", ASKS, permissions={"network": ["example.org"]})
    person = Person()
    for path in (path_of(project, person), path_of(project, person, workers)):
        for name in ("asks", "held", "kept", "hosts", "asks", "held", "kept"):
            outcome = called(path, name)
            assert outcome.result == {"age": 7}, (name, outcome.error)
    assert len(person.asked) == 14 and {one.key for one in person.asked} == {"age"}
    nobody = path_of(project, None, workers)
    for name in ("asks", "held", "kept"):
        error = called(nobody, name).error
        assert error is not None and error.code == "needs_input", error


def test_p80_a_question_shows_none_of_the_tools_secrets(project: Path) -> None:
    user_config.set_value("secrets.KEY", "s3cret-4711")
    python_tool(
        project / ".vespe/tools/tool-asks",
        "asks",
        """
    import os, vespe_ask
    key = os.environ["KEY"]
    answer = {"type": "string", "title": key, "enum": [key.encode().hex(), "b"], "default": "b"}
    schema = {"type": "object", "properties": {"age": answer}}
    return vespe_ask.ask(f"Is it {key}?", schema, name=key)
""",
        secrets=["KEY"],
    )
    person = Person(PersonReply(action="accept", content={"age": "b"}))
    outcome = called(path_of(project, person), "asks")
    assert outcome.result == {"age": "b"}, outcome.error
    (asked,) = person.asked
    assert (asked.text, asked.key) == ("Is it ***?", "***")
    wanted = {"type": "string", "title": "***", "enum": ["***", "b"], "default": "b"}
    assert asked.schema == {"type": "object", "properties": {"age": wanted}}


def test_a_no_and_vespes_own_name_for_it_reach_the_tool(project: Path) -> None:
    tools = project / ".vespe/tools"
    python_tool(tools / "tool-asks", "asks", ASKS)
    python_tool(
        tools / "tool-own",
        "own",
        """
    import vespe
    try:
        vespe.ask("Sure?")
    except vespe.Declined as no:
        return no.action
""",
    )
    path = path_of(project, Person(PersonReply(action="decline")))
    error = called(path, "asks").error
    assert error is not None and error.code == "declined"
    assert error.details["tool"] == "asks" and error.details["action"] == "decline"
    assert called(path, "own").result == "decline"


def test_a_shell_tool_asks_by_lines(project: Path, workers: Workers) -> None:
    line = json.dumps({"ask": 1, "question": "How old?", "schema": AGE})
    shell_tool(
        project,
        "shell",
        f"""echo '{line}' >&${{VESPE_ASK_FD#*,}}
read -r answer <&${{VESPE_ASK_FD%,*}}
printf %s "$answer" """,
    )
    wanted = {"answer": 1, "action": "accept", "content": {"age": 7}}
    person = Person()
    for path in (path_of(project, person), path_of(project, person, workers)):
        outcome = called(path, "shell")
        assert json.loads(str(outcome.result)) == wanted, outcome.error


@pytest.mark.parametrize("asker", [None, Person()], ids=["nobody", "a person"])
def test_a_shell_tool_has_the_same_descriptors_in_every_call(
    project: Path, workers: Workers, asker: Person | None
) -> None:
    """What is ready before a call gets its descriptors later, and none of them is the tool's."""
    user_config.set_value("sandbox", "auto")
    shell_tool(project, "look", "ls -l /proc/self/fd | sed -n 's/.* \\([0-9]*\\) -> /\\1 /p'")
    made = [called(path_of(project, asker), "look")]
    path = path_of(project, asker, workers)
    made += [called(path, "look") for _ in range(5)]
    # a pipe has another number in each call
    found = [re.sub(r"\d+\]|\d+/fd", "", str(one.unwrap())).splitlines() for one in made]
    assert found == [found[0]] * 6
    # `ls` has opened the third itself
    assert [line.split()[0] for line in found[0]] == ["0", "1", "2", "3", "4"]


def test_a_shell_tool_that_asks_where_nobody_can_be_asked_ends_there(
    project: Path, workers: Workers, tmp_path: Path
) -> None:
    after = tmp_path / "after"
    asks = 'echo \'{"ask": 1, "question": "Sure?"}\' >&${VESPE_ASK_FD#*,}'
    shell_tool(project, "asks", f"{asks}\nread -r answer <&${{VESPE_ASK_FD%,*}}\ntouch {after}")
    shell_tool(project, "quiet", "echo done")
    for path in (path_of(project, None), path_of(project, None, workers)):
        error = called(path, "asks").error
        assert error is not None and error.code == "needs_input", error
        assert error.message == "'asks' asks the user a question, but there is no one to ask here"
        assert called(path, "quiet").result == "done\n"
    assert not after.exists()


LINES = [
    ("not json", "must be a JSON object"),
    ('{"ask": 1}', 'a question line has the form {"ask"'),
    ('{"ask": 2, "question": "a"}', 'a question line has the form {"ask"'),
    ('{"ask": 1, "question": ""}', "not a string of 1 to 4000"),
    ('{"ask": 1, "question": "a", "schema": 3}', "cannot be entered in a form"),
    ('{"ask": 1, "question": "a", "name": 3}', "whose name"),
    ('{"ask": 1, "question": "' + "a" * 70_000 + '"}', "at most 65536 bytes"),
]


def test_lines_that_ask_for_nothing_are_answered_with_a_sentence_and_no_person_is_asked(
    project: Path,
) -> None:
    body = f"""
    import json, os
    said = []
    for line in {[line for line, _ in LINES]!r}:
        data = memoryview(line.encode() + b"\\n")
        while data:
            data = data[os.write(4, data):]
        answer = b""
        while not answer.endswith(b"\\n"):
            answer += os.read(4, 65536)
        said.append(json.loads(answer))
    os.write(4, b'{{"ask": 1, "question": "half')
    return said
"""
    python_tool(project / ".vespe/tools/tool-odd", "odd", body)
    person = Person()
    outcome = called(path_of(project, person), "odd")
    assert isinstance(outcome.result, list), outcome.error
    for (line, why), said in zip(LINES, outcome.result, strict=True):
        assert said["action"] == "cancel" and why in said["error"]["message"], line[:40]
    assert person.asked == []


def test_the_ninth_question_is_refused_and_the_same_one_is_asked_once(project: Path) -> None:
    body = """
    import vespe_ask
    vespe_ask.ask("Number 0?")
    try:
        for number in range(9):
            vespe_ask.ask(f"Number {number}?")
    except vespe_ask.ToolError as error:
        return str(error)
"""
    python_tool(project / ".vespe/tools/tool-many", "many", body)
    person = Person(PersonReply(action="accept"))
    outcome = called(path_of(project, person), "many")
    assert "more than 8 questions" in str(outcome.result) and len(person.asked) == 8


def test_a_flood_of_lines_is_hung_up_on(project: Path) -> None:
    body = """
    import os
    line = b'{"ask": 1, "question": "a"}\\n'
    try:
        for _ in range(100_000):
            os.write(4, line)
    except OSError as error:
        return type(error).__name__
"""
    python_tool(project / ".vespe/tools/tool-flood", "flood", body)
    slow = threading.Event()

    def person(question: ToolQuestion) -> PersonReply:
        slow.wait(0.5)
        return PersonReply(action="decline")

    outcome = called(path_of(project, person), "flood", timeout_s=60)
    assert outcome.result in ("BrokenPipeError", "ConnectionResetError"), outcome


def test_the_deadline_stands_still_while_a_person_is_asked_and_holds_afterwards(
    project: Path, workers: Workers
) -> None:
    tools = project / ".vespe/tools"
    python_tool(tools / "tool-asks", "asks", ASKS)
    late = ASKS.replace("return ", "") + "    import time\n    time.sleep(60)\n"
    python_tool(tools / "tool-late", "late", late)

    def slowly(question: ToolQuestion) -> PersonReply:
        time.sleep(2.5)
        return PersonReply(action="accept", content={"age": 7})

    path = path_of(project, slowly, workers)
    assert called(path, "asks", timeout_s=2).result == {"age": 7}
    error = called(path, "late", timeout_s=2).error
    assert error is not None and error.code == "timed_out"


def test_a_tool_that_dies_while_a_person_is_asked_leaves_the_question(project: Path) -> None:
    body = """
    import os, threading, time, vespe_ask
    threading.Timer(0.3, os._exit, (3,)).start()
    vespe_ask.ask("Sure?")
"""
    python_tool(project / ".vespe/tools/tool-dies", "dies", body)
    left = threading.Event()

    def never(question: ToolQuestion) -> PersonReply:
        if question.over.wait(60):
            left.set()
        return PersonReply(action="accept")

    error = called(path_of(project, never), "dies").error
    assert error is not None and error.code == "tool_error" and "status 3" in error.message
    assert left.wait(30)


@pytest.mark.parametrize("keeps", [False, True])
def test_an_asker_that_suspends_ends_the_process_before_anything_after_the_question(
    project: Path, keeps: bool, workers: Workers
) -> None:
    done = project / "done"
    body = f"""
    import vespe_ask
    try:
        vespe_ask.ask("Sure?", name="sure")
    except BaseException:
        pass
    import time
    time.sleep(5)
    open({str(done)!r}, "w").close()
"""
    python_tool(project / ".vespe/tools/tool-waits", "waits", body)

    def suspends(question: ToolQuestion) -> PersonReply:
        raise CallSuspended(question)

    with pytest.raises(CallSuspended) as ended:
        called(path_of(project, suspends, workers if keeps else None), "waits")
    assert [(one.tool, one.key) for one in ended.value.questions] == [("waits", "sure")]
    assert not done.exists()


def test_a_cancelled_call_ends_the_tool_and_its_question(project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-asks", "asks", ASKS)
    cancel, left = threading.Event(), threading.Event()

    def never(question: ToolQuestion) -> PersonReply:
        cancel.set()
        if question.over.wait(60):
            left.set()
        return PersonReply(action="accept")

    path = path_of(project, never)
    outcome = path.run(Call(tool="asks", arguments={}), cancel=cancel)
    assert outcome.error is not None and outcome.error.code == "interrupted"
    assert left.wait(30)
