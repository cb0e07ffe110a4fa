"""Questions to the user of a client, as `elicitation/create` asks them, and the answers."""

from typing import Any, Final

from vespe.calls.asking import ACCEPT, CANCEL, DECLINE, PersonReply, ToolQuestion
from vespe.calls.policy import Question
from vespe.calls.question_texts import question_text
from vespe.documents import strict_json
from vespe.documents.escaping import inert, inert_line
from vespe.errors import NeedsInput
from vespe.files.digests import sha256
from vespe.models import JsonObject, JsonValue
from vespe.schemas import answers

APPROVAL: Final = "vespe/allow"
"""The key of the question whether a call may run."""
_OWN: Final = "vespe/"
_ALLOW: Final = "allow"
_MOST_TEXT: Final = 16_000
_ACTIONS: Final = (ACCEPT, DECLINE, CANCEL)


def approval(question: Question) -> JsonObject:
    """Return the parameters of `elicitation/create` that ask whether a call may run."""
    said = question_text(question)
    text = said.as_text()
    if len(text) > _MOST_TEXT:
        left = len(text) - _MOST_TEXT
        why = f"You are asked because {said.why}."  # which stood at the end
        text = f"{text[:_MOST_TEXT]}\n… and {left:,} more characters\n\n{why}"
    allow = {
        "type": "boolean",
        "title": "Allow this call",
        "description": "Otherwise the call is refused.",
    }
    schema = {"type": "object", "properties": {_ALLOW: allow}, "required": [_ALLOW]}
    return {"message": text, "requestedSchema": schema}


def form(question: ToolQuestion) -> JsonObject:
    """Return the parameters of `elicitation/create` for a question of a tool, which names it."""
    said = f"The tool `{inert_line(question.tool)}` asks:\n\n{inert(question.text)}"
    if question.problem:
        said += f"\n\nThe answer before did not fit: {inert_line(question.problem)}"
    return {"message": said, "requestedSchema": answers.shown_schema(question.schema)}


def key_of(question: ToolQuestion) -> str:
    """Return the key that a question of a tool has for the client: its own, but never that of the
    question whether the call may run.
    """
    return f"tool:{question.key}" if question.key.startswith(_OWN) else question.key


def digest_of(params: JsonObject) -> str:
    """Return what tells one question from another that has its key."""
    return sha256(strict_json.compact_bytes(params)).hexdigest()


def reply_in(answer: JsonValue) -> PersonReply:
    """Return the reply that a result of `elicitation/create` is; raises NeedsInput for what is
    none.
    """
    if not isinstance(answer, dict) or answer.get("action") not in _ACTIONS:
        raise NeedsInput(
            "the client's answer to a question must be accept, decline or cancel",
            hint="make the call again",
        )
    content: Any = answer.get("content")
    return PersonReply(
        action=answer["action"], content=content if isinstance(content, dict) else {}
    )


def allows(reply: PersonReply, *, tool: str) -> bool:
    """Say whether a reply allows a call; raises NeedsInput where it says neither yes nor no."""
    if reply.action != ACCEPT:
        return False
    said = reply.content.get(_ALLOW)
    if not isinstance(said, bool):
        raise NeedsInput(
            f"the answer to whether {tool!r} may run does not fit: `{_ALLOW}` must be true or "
            "false",
            hint="make the call again",
        )
    return said
