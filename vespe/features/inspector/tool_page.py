"""One tool: its inputs as a form, what came of a call, its definition, its files and its earlier
calls.
"""

from collections.abc import Mapping
from typing import Any, Final

from vespe import errors
from vespe.adapters import SHAPES, cost
from vespe.calls import log
from vespe.calls.asking import ACCEPT, CANCEL, DECLINE, PersonAction, PersonReply
from vespe.calls.policy import ONCE, PROJECT, SESSION, Answer
from vespe.cli import review_words
from vespe.features.inspector import form, questions
from vespe.features.inspector.logged import LoggedCall, logged
from vespe.features.inspector.page import Page, Redirect, Visit
from vespe.features.inspector.running import Given, Next, OpenCall, Ran, UnconfirmedCall
from vespe.features.inspector.sources import sources_of
from vespe.features.inspector.tools_page import reason
from vespe.models import JsonObject, Row, Tool
from vespe.schemas import answers
from vespe.tools.secret_items import items_of

HISTORY: Final = 25
"""Earlier calls that are shown."""
_ANSWERS: Final = {
    "once": Answer(allowed=True, holds=ONCE),
    "session": Answer(allowed=True, holds=SESSION),
    "project": Answer(allowed=True, holds=PROJECT),
    "no": Answer(allowed=False, holds=ONCE),
}


def show(visit: Visit) -> Page:
    """Return the page of the tool `scope/uid`, a broken one's too; raises NotFound."""
    scope, uid = visit.words
    row = visit.project.row(scope, uid)
    entry = row.entry
    context: dict[str, Any] = {
        "row": row,
        "entry": entry,
        "reason": reason(row),
        "tool": None,
        "refusal": None,
    }
    context["namesakes"] = _namesakes(visit, row)
    context["sources"] = sources_of(entry.path)
    context["calls"] = _history(visit, row)
    try:
        tool = visit.project.tool(entry)
    except errors.InvalidTool as error:
        return Page(
            template="tool.html",
            title=entry.name or entry.uid,
            context=context | {"problem": error},
        )
    context |= {
        "tool": tool,
        "problem": None,
        "says": review_words.hints_of(tool.annotations),
        "secrets": items_of(tool),
    }
    context |= _definition(visit, tool) | _run(visit, row, tool)
    return Page(template="tool.html", title=tool.name, context=context)


async def change(visit: Visit) -> Page | Redirect:
    """Run the tool with what a form says, or go on with a call that waited, or whose tool asks;
    raises as `CallPath.run` does.
    """
    scope, uid = visit.words
    if (key := visit.request.said("waiting")) and (
        answer := _ANSWERS.get(visit.request.said("answer"))
    ):
        waiting = visit.runs.waiting(key)
        done = (
            await visit.runs.go_on(key, answer)
            if waiting is not None and waiting.given.tool.uid == uid
            else None
        )
        if done is None:
            raise errors.NotFound("this call was already answered", hint="run the tool again")
    elif key := visit.request.said("asked"):
        done = await _answered(visit, uid, key)
    else:
        done = await visit.runs.start(_given(visit, scope, uid))
    key, kind = done
    return Redirect(
        words=("tool", scope, uid),
        query={kind: key},
        place="run" if kind == "ran" else "question",
    )


async def _answered(visit: Visit, uid: str, key: str) -> tuple[str, Next]:
    """Give what a form says to the tool that asks; an answer that does not fit is asked for again
    without the tool.
    """
    call, action = visit.runs.asking(key), visit.request.said("answer")
    over = errors.NotFound(
        "the tool no longer waits for this answer: it was answered, or its time is up",
        hint="run the tool again",
    )
    if call is None or call.question is None or call.given.tool.uid != uid:
        raise over
    content: JsonObject = {}
    if action == ACCEPT:
        call.values = questions.typed_in(visit.request.form or ())
        content = questions.content_of(call.question, call.values)
        schema = call.question.schema
        call.problem = answers.problem_of(schema, answers.with_defaults(schema, content))
        if call.problem:
            return key, "asked"
    known: PersonAction = ACCEPT if action == ACCEPT else DECLINE if action == DECLINE else CANCEL
    reply = PersonReply(action=known, content=content)
    done = await visit.runs.answer(key, reply)
    if done is None:
        raise over
    return done


def _given(visit: Visit, scope: str, uid: str) -> Given:
    path, fields, whole = (
        visit.project.path.now(),
        form.typed_in(visit.request.form or ()),
        visit.request.said(form.WHOLE).strip(),
    )
    if refusal := visit.project.refusal(visit.project.row(scope, uid).entry):
        raise refusal
    tool = path.tool(f"{scope}/{uid}")
    return Given(
        tool=tool, arguments=whole or form.arguments_of(tool, fields), fields=fields, whole=whole
    )


def _run(visit: Visit, row: Row, tool: Tool) -> JsonObject:
    """Return the form, filled with what was typed last, with an example or with an earlier call,
    and what came of it.
    """
    ran, waiting = visit.runs.ran(visit.asked("ran")), visit.runs.waiting(visit.asked("waiting"))
    asking = visit.runs.asking(visit.asked("asked"))
    kept: Ran | UnconfirmedCall | OpenCall | None = ran or waiting or asking
    kept = kept if kept is not None and kept.given.tool.uid == tool.uid else None
    values: Mapping[str, str] = kept.given.fields if kept else _prefilled(visit, tool)
    error = kept.outcome.error if isinstance(kept, Ran) else None
    violations = error.details.get("violations", ()) if error else ()
    asks = tool.annotations.get("readOnlyHint") is not True
    return {
        "fields": form.fields_of(tool, values, violations),
        "whole": kept.given.whole if kept else "",
        "outcome": kept.outcome if isinstance(kept, Ran) else None,
        "waiting": visit.asked("waiting") if isinstance(kept, UnconfirmedCall) else "",
        "question": kept if isinstance(kept, UnconfirmedCall) else None,
        "tool_asks": kept if isinstance(kept, OpenCall) else None,
        "asked": visit.asked("asked"),
        "answer_fields": questions.fields_of(kept.question, kept.values)
        if isinstance(kept, OpenCall) and kept.question
        else (),
        "asks": asks,
        "gone": any(visit.asked(kind) for kind in ("ran", "waiting", "asked")) and kept is None,
        "refusal": visit.project.refusal(row.entry) if row.status != "inactive" else None,
        "takes_any": not tool.input_schema.get("properties")
        and tool.input_schema.get("additionalProperties") is not False,
    }


def _prefilled(visit: Visit, tool: Tool) -> dict[str, str]:
    number = visit.number("example")
    if 0 < number <= len(tool.examples):
        return form.texts_of(tool.examples[number - 1].get("input"))
    call = visit.asked("again")
    found = (
        log.read(
            visit.project.root,
            limit=1,
            wanted=lambda line: line["id"] == call and line.get("uid") == tool.uid,
        )
        if call
        else []
    )
    return form.texts_of(found[0].get("arguments")) if found else {}


def _definition(visit: Visit, tool: Tool) -> JsonObject:
    api = visit.asked("as", tuple(SHAPES)) or next(iter(SHAPES))
    view = visit.project.workspace.view
    definition = SHAPES[api].definition(view.of(tool))
    return {
        "apis": tuple(SHAPES),
        "api": api,
        "definition": definition,
        "size": cost.size_of(definition),
        "exposure": view.exposure(tool),
    }


def _namesakes(visit: Visit, row: Row) -> list[tuple[Row, str]]:
    """Return every tool of the same name, in the order of their scopes, with what becomes of
    each.
    """
    same = [
        other
        for other in visit.project.rows()
        if other.entry.name is not None and other.entry.name == row.entry.name
    ]
    return [(other, reason(other) or "this tool is called by the name") for other in same]


def _history(visit: Visit, row: Row) -> list[LoggedCall]:
    lines = log.read(
        visit.project.root, limit=HISTORY, wanted=lambda line: line.get("uid") == row.entry.uid
    )
    return [logged(line) for line in reversed(lines)]
