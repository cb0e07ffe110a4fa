"""What a person reads when a call has to be allowed."""

import hashlib
from typing import Any

from vespe.calls.policy import Question
from vespe.calls.previews import Preview
from vespe.calls.question_texts import question_text
from vespe.models import Tool

WHY = "it is not marked read-only and may change something"


def made(scope: str = "project_tools", **fields: Any) -> Question:
    description = "Send an e-mail. It goes out at once.\n\nMore of it."
    tool = Tool(uid="u", name="send", description=description, input_schema={}, scope=scope)
    return Question(tool=tool, **{"inputs": {"to": "a@example.org", "n": 3}, "why": WHY, **fields})


def test_a_question_says_what_would_run_with_what_and_why() -> None:
    text = question_text(
        made(origins={"to": "from a result of read_inbox, not from your messages"})
    )
    assert text.as_text() == (
        "`send` would run (a tool of this project). Its description: Send an e-mail.\n\n"
        '  to: "a@example.org"  (from a result of read_inbox, not from your messages)\n'
        "  n: 3\n\n"
        f"You are asked because {WHY}."
    )
    assert not text.cut
    assert "(a tool of the kit mails)" in question_text(made("mails")).what
    assert "(a function of this program)" in question_text(made("program")).what


def test_previews_stand_below_and_what_they_show_is_not_shown_twice() -> None:
    text = "\n".join(f"+line {n}" for n in range(100))
    one = Preview(kind="difference", title="Change", text=text, instead_of=("body",))
    shown = question_text(made(inputs={"body": text}, previews=(one,)))
    assert shown.arguments == (f"body: {len(text):,} characters, shown below",)
    assert shown.previews[0][0] == "Change" and shown.previews[0][1].endswith("… and 60 more lines")
    assert shown.cut and "+line 99" in shown.whole and "Change:\n  +line 0\n" in shown.as_text()


def test_a_long_value_that_is_shown_below_has_its_size_and_digest() -> None:
    one = Preview(kind="difference", title="a.txt is new", text="+y", instead_of=("a", "b"))
    inputs = {"a": "y\n" * 5000, "b": "y\n"}
    digest = hashlib.sha256(inputs["a"].encode()).hexdigest()[:16]
    first, second = question_text(made(inputs=inputs, previews=(one,))).arguments
    assert first == f"a: 10,000 characters, SHA-256 {digest}…, shown below"
    assert second == "b: 2 characters, shown below"


def test_everything_in_a_question_is_inert_and_long_values_hide_nothing() -> None:
    inputs = {"a\x1b": "x\u202e" + "y" * 9000, "b": list(range(900)), "to": "all"}
    one = Preview(kind="command", title="command\n", text="rm \x1b[2J")
    shown = question_text(made(inputs=inputs, previews=(one,), why="because\x07"))
    for said in (shown.as_text(), shown.whole):
        assert not {"\x1b", "\u202e", "\x07"} & set(said)
    assert 'to: "all"' in shown.as_text() and len(shown.as_text()) < 2_500
    assert shown.as_text().count("SHA-256 of all") == 2 and "y" * 9000 in shown.whole
