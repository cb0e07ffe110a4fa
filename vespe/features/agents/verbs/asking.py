"""How a person is asked whether a call may run: on the terminal, with everything that the tool
would be given.
"""

import sys
from typing import Final

from vespe.calls.policy import ONCE, PROJECT, SESSION, Answer, Ask, Question
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.features.agents.verbs.shown import RunDisplay

_SHOWN: Final = 4000
_ANSWERS: Final = {
    "y": Answer(allowed=True, holds=ONCE),
    "s": Answer(allowed=True, holds=SESSION),
    "p": Answer(allowed=True, holds=PROJECT),
    "n": Answer(allowed=False, holds=ONCE),
    "ns": Answer(allowed=False, holds=SESSION),
    "np": Answer(allowed=False, holds=PROJECT),
}
_PROMPT: Final = "run it? [y/s/p/n/ns/np, ? explains] "
_EXPLAINED: Final = """  y   yes, this once         n   no, not this once
  s   yes, in this session   ns  not in this session
  p   yes, in this project,  np  never in this project
      until the tool changes  v  show all that it would get"""


def asker(shown: RunDisplay) -> Ask | None:
    """Return what asks on the terminal, below what is shown there, or None where nobody can be
    asked.
    """

    def asked(question: Question) -> Answer:
        shown.end()
        return ask(question)

    return asked if options.interactive() else None


def ask(question: Question) -> Answer:
    """Ask about one call; no answer, and the end of the input, is a no."""
    report.say(
        f"{report.one_line(question.tool.name)} ({report.one_line(question.tool.scope)}) would "
        f"run: {question.why}"
    )
    text = strict_json.dump_json(question.inputs).rstrip("\n")
    more = (
        f"\n  … and {len(text) - _SHOWN} more characters: v shows all of it"
        if len(text) > _SHOWN
        else ""
    )
    report.say("  " + text[:_SHOWN].replace("\n", "\n  ") + more)
    while True:
        sys.stderr.write(_PROMPT)
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            report.say("")
        said = line.strip().lower() or "n"
        if said in _ANSWERS:
            return _ANSWERS[said]
        report.say("  " + text.replace("\n", "\n  ") if said == "v" else _EXPLAINED)
