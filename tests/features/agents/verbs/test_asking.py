"""How a person is asked; on a terminal in test_agent_chat."""

import hashlib
import io
import json
import sys
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool
from tests.support.terminal import plain, vespe_on_a_terminal
from vespe.calls.policy import Answer, Question
from vespe.features.agents.verbs.asking import ask, asker
from vespe.features.agents.verbs.shown import RunDisplay
from vespe.models import Tool

TOOL = Tool(uid="u", name="f", description="", input_schema={}, scope="project_tools")


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", Answer(allowed=True, holds="once")),
        ("Yes\n", Answer(allowed=True, holds="once")),
        ("no\ny\n", Answer(allowed=False, holds="once")),
        ("s\n", Answer(allowed=True, holds="session")),
        ("p\n", Answer(allowed=True, holds="project")),
        ("n\n", Answer(allowed=False, holds="once")),
        ("ns\n", Answer(allowed=False, holds="session")),
        ("np\n", Answer(allowed=False, holds="project")),
        ("\n", Answer(allowed=False, holds="once")),
        ("", Answer(allowed=False, holds="once")),
        ("what\n?\ny\n", Answer(allowed=True, holds="once")),
    ],
)
def test_an_answer_is_what_was_typed_and_nothing_is_no(
    typed: str,
    answer: Answer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert ask(Question(tool=TOOL, inputs={"a": 1}, why="because")) == answer
    forgets = "`vespe agent answers --forget project_tools/f` asks again"
    assert (forgets in capsys.readouterr().err) == (typed == "np\n")


def test_inputs_are_shown_inert_and_long_ones_say_how_much_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    ask(Question(tool=TOOL, inputs={"a": "\u202e" + "x" * 9000}, why="because"))
    said = capfd.readouterr().err
    assert "\\u202e" in said and "more characters" in said and "\u202e" not in said


def test_all_that_a_tool_would_get_can_be_seen_before_the_answer(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("d\nv\nY\n"))
    assert ask(Question(tool=TOOL, inputs={"a": "x" * 9000 + "end\u202e"}, why="because")).allowed
    assert 'xend\\u202e"' in capfd.readouterr().err


def test_a_long_text_hides_nothing_else_and_says_its_size_and_digest(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    body = "b" * 900_000
    ask(Question(tool=TOOL, inputs={"body": body, "to": "all"}, why="because"))
    said = capfd.readouterr().err
    digest = hashlib.sha256(body.encode()).hexdigest()[:16]
    assert f"899,600 more characters, SHA-256 of all {digest}" in said
    assert 'to: "all"' in said and "d shows all of it" in said and len(said) < 2_000


def test_what_is_no_answer_is_named_before_the_answers_are_listed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("sure\x1b\n?\n"))
    assert not ask(Question(tool=TOOL, inputs={}, why="because")).allowed
    said = capfd.readouterr().err
    assert "  sure\\x1b is not one of the answers:\n  y   yes, this once\n" in said
    assert said.count("is not one of the answers") == 1


def test_without_a_terminal_there_is_nobody_to_ask() -> None:
    assert asker(RunDisplay()) is None


PROGRAM = """\
found = []
for n in range(3):
    found.append(mark(n=n))
for n in range(3):
    try:
        wipe(n=n)
    except PermissionError:
        found.append("denied")
found"""


def test_the_calls_of_a_program_are_answered_once_or_alike_on_a_terminal(project: Path) -> None:
    pytest.importorskip("pydantic_monty")
    for name in ("mark", "wipe"):
        body = f"with open('{name}', 'a') as file:\n    file.write('x')\nreturn n"
        schema = {"type": "object", "properties": {"n": {}}}
        place = project / f".vespe/tools/tool-{name}"
        python_tool(place, name, body, params="n", schema=schema)
    turns = [{"tool_calls": [{"name": "run_code", "arguments": {"code": PROGRAM}}]}, {"text": "!"}]
    (project / "s.json").write_text(json.dumps({"turns": turns}), encoding="utf-8")
    words = ("agent", "run", "hi", "--provider", "simulated", "--script", "s.json")
    shown = plain(
        vespe_on_a_terminal(*words, "--tools-mode", "code", cwd=project, typed="d\ny\na\nn\nna\n")
    )
    assert (project / "mark").read_text(encoding="utf-8") == "xxx", shown
    assert not (project / "wipe").exists()
    assert shown.count("Run it? [y/a/s/p/n/na/ns/np/d") == 5  # d asks again
    assert "in the model's program, line 3: found.append(mark(n=n))" in shown
    assert "a   yes, and all calls of this tool in this program" in shown
    assert '[0,1,2,"denied","denied","denied"]' in shown
