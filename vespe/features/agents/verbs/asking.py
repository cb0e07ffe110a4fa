"""How a person is asked whether a call may run: on the terminal, with everything that the tool
would be given.
"""

import sys
from typing import Final

from vespe.calls.policy import ONCE, PROJECT, SESSION, Answer, Ask, Question
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.features.agents.verbs.shown import RunDisplay
from vespe.files.digests import sha256
from vespe.models import JsonValue

_SHOWN: Final = 4000
_LONG: Final = 1000
_HEAD: Final = 400
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
    shortened = {name: _head(value) for name, value in question.inputs.items()}
    first = strict_json.dump_json(shortened).rstrip("\n")
    more = (
        f"\n  … and {len(first) - _SHOWN} more characters: v shows all of it"
        if len(first) > _SHOWN
        else "\n  v shows all of it"
        if first != text
        else ""
    )
    report.say("  " + first[:_SHOWN].replace("\n", "\n  ") + more)
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


def _head(value: JsonValue) -> JsonValue:
    """Return a value as it is shown first: of a long text its beginning and how long it is, so that
    it hides no other.
    """
    if not isinstance(value, str) or len(value) <= _LONG:
        return value
    digest = sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return (
        f"{value[:_HEAD]} … and {len(value) - _HEAD:,} more characters, SHA-256 of all "
        f"{digest[:16]}…"
    )
