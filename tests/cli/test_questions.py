"""How a person answers on the terminal what a tool asks."""

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.ondisk import PATIENCE_S, python_tool, vespe
from tests.support.terminal import environment_of, plain, vespe_on_a_terminal
from vespe.calls.asking import PersonReply, ToolQuestion
from vespe.cli import questions, report

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "description": "Who\x1b[2J it is."},
        "age": {"type": "integer", "minimum": 1},
        "share": {"type": "number", "default": 0.5},
        "sure": {"type": "boolean"},
        "stage": {"type": "string", "oneOf": [{"const": "a", "title": "Alpha"}, {"const": "b"}]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
    },
    "required": ["name", "age"],
}


def asked(typed: str, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> PersonReply:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    made = {"tool": "deploy", "text": "Where\x1b to?", "schema": FORM, "key": "k", **fields}
    return questions.answer(ToolQuestion(**made))


def test_a_form_is_filled_in_field_by_field_and_wrong_values_are_said(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = asked("y\nA\nAnna\n\nold\n7\n\nyes\n2\nx, 2\n", monkeypatch)
    assert reply == PersonReply(
        action="accept",
        content={
            "name": "Anna",
            "age": 7,
            "share": 0.5,
            "sure": True,
            "stage": "b",
            "tags": ["x", "y"],
        },
    )
    said = capfd.readouterr().err
    assert "The tool `deploy` asks:" in said and "Where\\x1b to?" in said and "\x1b" not in said
    assert "this field is required" in said and "1  a  Alpha" in said
    assert "name is too short" in said or "'name'" in said or "name" in said


def test_what_a_field_takes_is_said_in_words_that_everybody_knows(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = asked("y\nAnna\nold\n1.5\n0\n7\nhalf\n\nperhaps\nno\n\n\n", monkeypatch)
    assert reply.content == {"name": "Anna", "age": 7, "share": 0.5, "sure": False}
    said = capfd.readouterr().err
    for hint in ("age (a whole number)", "share (a number; 0.5 if", "sure (yes or no; may be"):
        assert hint in said
    assert said.count("enter a whole number") == 2 and "`age` must be at least 1, not 0" in said
    assert "enter a number" in said and "enter yes or no" in said
    assert "integer" not in said and "boolean" not in said


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("n\n", "decline"),
        ("what\nno\n", "decline"),
        ("", "cancel"),
        ("y\n", "cancel"),
        ("y\nAnna\n", "cancel"),
    ],
)
def test_a_no_declines_and_the_end_of_the_input_cancels(
    typed: str, action: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(typed, monkeypatch) == PersonReply(action=action)


def test_what_needs_no_values_is_agreed_to(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    empty = {"type": "object", "properties": {}}
    assert asked("y\n", monkeypatch, schema=empty) == PersonReply(action="accept")
    assert "Do you agree? [y/n]" in capfd.readouterr().err
    assert asked("y\n", monkeypatch, schema=empty, problem="too old").action == "accept"
    assert "That does not fit: too old" in capfd.readouterr().err


def test_a_question_that_is_over_is_not_asked_while_another_one_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = threading.Event()
    over.set()
    with questions.terminal() as first:
        assert first
        assert asked("y\n", monkeypatch, over=over) == PersonReply(action="cancel")
    assert asked("n\n", monkeypatch).action == "decline"


def test_no_progress_is_written_over_a_prompt(capfd: pytest.CaptureFixture[str]) -> None:
    with questions.terminal():
        report.progress.show("running")
    assert capfd.readouterr().err == ""


def test_without_a_terminal_there_is_nobody_to_ask() -> None:
    assert questions.asker() is None


@pytest.fixture
def asking_tool(project: Path) -> Path:
    """A project with a tool that asks before it notes that it ran."""
    body = 'import vespe_ask\nvespe_ask.ask("Pour it?")\nreturn "poured"'
    python_tool(project / ".vespe/tools/tool-pour", "pour", body)
    assert vespe("trust", "--yes", cwd=project).returncode == 0
    return project


@pytest.mark.parametrize(
    ("typed", "shown", "code"),
    [
        ("maybe\ny\n", "poured", 0),
        ("n\n", "declined", "declined"),
        ("\x04", "did not answer", "declined"),
    ],
)
def test_a_tool_that_runs_on_a_terminal_asks_there_once(
    asking_tool: Path, typed: str, shown: str, code: object
) -> None:
    said = vespe_on_a_terminal("tool", "run", "pour", columns=60, cwd=asking_tool, typed=typed)
    assert "The tool `pour` asks:\n  Pour it?\nDo you agree? [y/n]" in said and shown in said
    assert ("(exit code 6)" in said) is bool(code)
    calls = json.loads(vespe("log", "--json", cwd=asking_tool).stdout)["calls"]
    assert len(calls) == 1


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_question_about_a_call_fits_the_terminal_and_spells_its_keys_out_once(
    asking_tool: Path, columns: int
) -> None:
    text = "a rather long line that goes on beyond the width of every terminal " * 2
    turn = [{"name": "pour", "arguments": {}}]
    turns = [{"tool_calls": turn}, {"tool_calls": turn}, {"text": "Done."}]
    (asking_tool / "script.json").write_text(json.dumps({"turns": turns}), encoding="utf-8")
    config = asking_tool / ".vespe/tools/tool-pour/config.json"
    config.write_text(
        json.dumps(json.loads(config.read_text(encoding="utf-8")) | {"description": text}),
        encoding="utf-8",
    )
    assert vespe("trust", "--yes", cwd=asking_tool).returncode == 0
    said = vespe_on_a_terminal(
        *("agent", "run", "Pour.", "--provider", "simulated", "--script", "script.json"),
        columns=columns,
        cwd=asking_tool,
        typed="n\nn\n",
    )
    shown = plain(said).split("Run it?")[0].splitlines()[1:]
    assert all(len(line) <= columns for line in shown) and said.count("Run it? [y/s/p") == 2
    assert said.count("s   yes, in this session") == 1 and "You are asked because it is not" in said


HOSTILE: Final = Path(__file__).parents[1] / "cases/questions/asked.json"
CASES: Final[list[dict[str, Any]]] = json.loads(HOSTILE.read_text(encoding="utf-8"))
RAW: Final = f"""
    import json, os
    row = json.load(open({str(HOSTILE)!r}, encoding="utf-8"))[inputs["row"]]
    row = row["twin"] if inputs["twin"] else row
    if "hex" in row:
        line = bytes.fromhex(row["hex"])
    elif "line" in row:
        line = row["line"].encode() * row.get("times", 1)
    else:
        line = json.dumps({{"ask": 1, **row["ask"]}}).encode()
    data = memoryview(line + b"\\n")
    while data:
        data = data[os.write(4, data):]
    answer = b""
    while not answer.endswith(b"\\n"):
        answer += os.read(4, 65536)
    said = json.loads(answer)
    if said["action"] == "accept":
        with open(inputs["effects"], "a", encoding="utf-8") as file:
            file.write(json.dumps([inputs["row"], inputs["twin"], said["content"]]) + "\\n")
    return said
"""
DRIVER: Final = """
import json, sys
from dataclasses import replace
from vespe.calls.path import open_path
from vespe.cli import questions
from vespe.models import Call
from vespe.processes.workers import Workers
from vespe.projects.workspace import open_workspace
project, effects, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Workers() as workers:
    path = replace(open_path(open_workspace(project), trusted=True), workers=workers)
    path = replace(path, asker=questions.asker())
    for row in range(count):
        for twin in (False, True):
            print(f"=== {row} {int(twin)} ===", flush=True)
            given = {"row": row, "twin": twin, "effects": effects}
            outcome = path.run(Call(tool="raw", arguments=given))
            said = json.dumps(outcome.result if outcome.error is None else str(outcome.error))
            print(f"=> {said}", flush=True)
print("=== end ===", flush=True)
"""
_MARK: Final = re.compile(r"=== (\d+) ([01]) ===\n")
_PROMPT: Final = re.compile(r"(\[y/n\]|\n  [^\n]*:) $")
_HIDDEN: Final = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


class Watched:
    """The driver on a terminal: a person who agrees to all, and types what a case says."""

    def __init__(self, project: Path, effects: Path) -> None:
        self.shown = ""
        ours, theirs = pty.openpty()
        argv = [sys.executable, "-c", DRIVER, str(project), str(effects), str(len(CASES))]
        with subprocess.Popen(
            argv, stdin=theirs, stdout=theirs, stderr=theirs, env=environment_of()
        ) as running:
            os.close(theirs)
            self._typed: Iterator[str] = iter(())
            self._case = ""
            while self._read(ours):
                self._type(ours)
            running.wait(PATIENCE_S)
        os.close(ours)

    def _read(self, ours: int) -> bool:
        """Read what is shown until nothing more comes for now."""
        wait = PATIENCE_S
        while select.select([ours], [], [], wait)[0]:
            try:
                data = os.read(ours, 65536)
            except OSError:
                return False
            self.shown = (self.shown + data.decode("utf-8", "replace")).replace("\r\n", "\n")
            wait = 0.01
        return True

    def _type(self, ours: int) -> None:
        if not (prompt := _PROMPT.search(self.shown[-300:])):
            return
        row, twin = _MARK.findall(self.shown)[-1]
        if f"{row} {twin}" != self._case:
            self._case = f"{row} {twin}"
            self._typed = iter(case_of(int(row), twin == "1").get("typed", ()))
        agrees = prompt[1] == "[y/n]"
        os.write(ours, f"{'y' if agrees else next(self._typed, '')}\n".encode())


def case_of(row: int, twin: bool) -> dict[str, Any]:
    made: dict[str, Any] = CASES[row]["twin"] if twin else CASES[row]
    return {"shown": True, **made}


def problems_of(case: dict[str, Any], shown: str) -> Iterator[str]:
    """Say what is wrong with what a person saw of one case."""
    asked, _, said = shown.rpartition("=> ")
    if odd := {one for one in shown if one != "\n" and unicodedata.category(one) in _HIDDEN}:
        yield f"what cannot be seen was written: {odd}"
    if not case["shown"]:
        if asked.strip():
            yield f"somebody was asked: {asked[:200]}"
        if case["error"] not in said:
            yield f"the tool was told {said[:200]}"
        return
    lines = asked.splitlines()
    if lines[0] != "The tool `raw` asks:":
        yield f"it begins with {lines[0]!r}"
    own = ("The tool `raw` asks:", "This was the question of the tool `raw`.")
    ours = (*own, "Do you agree? [y/n] y", "Answer it? [y/n] y")
    if strange := [line for line in lines if line not in ours and not line.startswith("  ")]:
        yield f"lines that look like Vespe's: {strange[:3]}"
    at = next(n for n, line in enumerate(lines) if line.endswith("[y/n] y") and line in ours)
    if not any(line in own for line in lines[max(at - 17, 0) : at]):
        yield "who asks is out of sight"


def test_hostile_questions_are_shown_as_what_they_are_and_their_twins_are_answered(
    project: Path,
) -> None:
    schema = {"type": "object", "properties": {"row": {}, "twin": {}, "effects": {}}}
    limits = {"worker": "persistent"}
    python_tool(project / ".vespe/tools/tool-raw", "raw", RAW, schema=schema, limits=limits)
    effects = project / "effects"
    seen = Watched(project, effects).shown
    parts = _MARK.split(seen.partition("=== end ===")[0])[1:]
    assert len(parts) == 6 * len(CASES), seen[-500:]
    wrong = []
    for row, twin, shown in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        case = case_of(int(row), twin == "1")
        wrong += [(CASES[int(row)]["name"], twin, one) for one in problems_of(case, shown)]
    assert wrong == []
    made = [json.loads(line) for line in effects.read_text(encoding="utf-8").splitlines()]
    wanted = [
        [row, twin, case.get("content", {})]
        for row in range(len(CASES))
        for twin in (False, True)
        if (case := case_of(row, twin))["shown"]
    ]
    assert made == wanted
