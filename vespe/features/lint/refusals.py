"""What the rules by the table of limits share: how a refusal is worded, and which subschemas are
judged.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from vespe.adapters.limits import Limit, limits_on
from vespe.features.lint.base import Check, Found, Node, Rule, Subject, rule
from vespe.models import Severity

TITLES: Final = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "ollama": "Ollama",
    "mcp": "MCP",
}


def refused(
    limit: Limit,
    message: str,
    part: str,
    *,
    pointer: str = "",
    severity: Severity | None = None,
    fix: str | None = None,
) -> Found:
    """Return what a broken limit comes to: `message` follows the API's name, and the limit says how
    grave it is unless it is said here.
    """
    message = f"{TITLES[limit.api]} {message}"
    return Found(
        message=message,
        part=part,
        pointer=pointer,
        target=limit.api,
        severity=severity or limit.severity,
        fix=fix,
    )


def refused_at(
    limit: Limit,
    subject: Subject,
    node: Node,
    message: str,
    *,
    more: str = "",
    fix: str | None = None,
) -> Found:
    """Return the same for one subschema, or for `more` below it.

    Gemini refuses it only in `parameters`, since what is in another shape can be sent to it as JSON
    Schema.
    """
    severity: Severity = (
        "info" if limit.api == "gemini" and not sent_as_openapi(subject) else limit.severity
    )
    return refused(
        limit, message, node.part, pointer=f"{node.pointer}{more}", severity=severity, fix=fix
    )


def inputs(subject: Subject) -> Iterator[Node]:
    """Return the subschemas of the input schema, its root first."""
    return (node for node in subject.nodes if node.part == "input_schema")


def types(schema: dict[str, Any]) -> Iterable[str]:
    """Return the types that a schema names, as a list, whether it names one or several."""
    said = schema.get("type")
    if isinstance(said, str):
        return [said]
    return [one for one in said if isinstance(one, str)] if isinstance(said, list) else ()


def limits_for(about: str, subject: Subject) -> Iterator[Limit]:
    """Return the limits about one thing that a definition can break: none of Gemini's where it is
    sent there as JSON Schema.
    """
    as_json_schema = subject.api == "gemini" and not sent_as_openapi(subject)
    return (limit for limit in limits_on(about) if not (as_json_schema and limit.api == "gemini"))


def sent_as_openapi(subject: Subject) -> bool:
    """Whether a definition is in Gemini's shape with `parameters`, the one place where Gemini
    refuses what OpenAPI's subset lacks.
    """
    return subject.api == "gemini" and str(subject.pointers.get("input_schema", "")).endswith(
        "/parameters"
    )


def limit_rule(code: str, *abouts: str) -> Callable[[Check], Rule]:
    """Make a rule about some kinds of limits, as `rule` does.

    It speaks for the APIs that have such limits, and is as grave as the gravest of them.
    """
    limits = [limit for about in abouts for limit in limits_on(about)]
    return rule(
        code,
        "error" if any(limit.severity == "error" for limit in limits) else "warning",
        targets=frozenset(limit.api for limit in limits),
    )
