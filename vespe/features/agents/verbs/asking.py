"""How a person is asked on the terminal whether a call may run: what it would do, why that is
asked, and on request everything that the tool would be given.
"""

from typing import Final

from vespe.calls import policy_answers
from vespe.calls.policy import IN_PROGRAM, ONCE, PROJECT, SESSION, Answer, Ask, Question
from vespe.calls.question_texts import QuestionText, question_text
from vespe.cli import options, questions, report
from vespe.features.agents.verbs.shown import RunDisplay
from vespe.models import Tool

_ANSWERS: Final = {
    "y": Answer(allowed=True, holds=ONCE),
    "s": Answer(allowed=True, holds=SESSION),
    "p": Answer(allowed=True, holds=PROJECT),
    "n": Answer(allowed=False, holds=ONCE),
    "yes": Answer(allowed=True, holds=ONCE),
    "no": Answer(allowed=False, holds=ONCE),
    "ns": Answer(allowed=False, holds=SESSION),
    "np": Answer(allowed=False, holds=PROJECT),
}
_IN_PROGRAM: Final = {
    "a": Answer(allowed=True, holds=IN_PROGRAM),
    "na": Answer(allowed=False, holds=IN_PROGRAM),
}
_PROGRAM_PROMPT: Final = "Run it? [y/a/s/p/n/na/ns/np/d, ? explains] "
_PROGRAM_EXPLAINED: Final = """
  a   yes, and all calls of this tool in this program
  na  no, and no call of this tool in this program"""
_PROMPT: Final = "Run it? [y/s/p/n/ns/np/d, ? explains] "
_EXPLAINED: Final = """  y   yes, this once
  s   yes, in this session
  p   yes, in this project, until the tool changes
  n   no, this once
  ns  no, in this session
  np  no, in this project
  d   details: everything that the tool would receive"""
_DETAILS: Final = ("d", "v")
"""`v` is what asked for the details before 0.3."""


def asker(shown: RunDisplay) -> Ask | None:
    """Return what asks on the terminal, below what is shown there, or None where nobody can be
    asked. The keys are spelt out with its first question.
    """
    explained = False

    def asked(question: Question) -> Answer:
        nonlocal explained
        shown.end()
        answer = ask(question, explain=not explained)
        explained = True
        return answer

    return asked if options.interactive() else None


def ask(question: Question, *, explain: bool = False) -> Answer:
    """Ask about one call; no answer, and the end of the input, is a no."""
    text = question_text(question)
    answers = _ANSWERS | _IN_PROGRAM if question.program else _ANSWERS
    prompt = _PROGRAM_PROMPT if question.program else _PROMPT
    explained = _EXPLAINED + (_PROGRAM_EXPLAINED if question.program else "")
    with questions.terminal():
        show(text)
        if question.program:
            report.say(f"  in the model's program, {report.one_line(question.program)}")
        if explain:
            report.say(explained)
        while True:
            line = questions.read_line(prompt)
            said = (line or "").strip().lower() or "n"
            if said in answers:
                if said == "np":
                    _tell_of_denial(question.tool)
                return answers[said]
            if said not in (*_DETAILS, "?"):
                report.say(f"  {report.one_line(said)} is not one of the answers:")
            report.say(text.whole if said in _DETAILS else explained)


def _tell_of_denial(tool: Tool) -> None:
    """Say how a denial for the project ends: later runs deny without a question."""
    name = report.one_line(policy_answers.subject(tool))
    report.note(
        f"{name} stays denied in this project; `vespe agent answers --forget {name}` asks again"
    )


def show(text: QuestionText) -> None:
    """Show a question, without what can be answered to it."""
    report.say(f"{text.what}. {text.about}".rstrip())
    for line in text.arguments:
        report.say(f"  {line}")
    for title, preview in text.previews:
        report.say(f"  {title}:")
        report.say("    " + preview.replace("\n", "\n    "))
    if text.cut:
        report.say("  d shows all of it")
    report.say(f"You are asked because {text.why}.")
