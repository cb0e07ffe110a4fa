"""Lint rules: what the strict modes of OpenAI and Anthropic refuse of a definition that asks for
them.
"""

from collections.abc import Iterator
from typing import Any, Final

from vespe.adapters.limits import Limit, limits_on
from vespe.documents.near import join_words
from vespe.documents.pointers import pointer_to
from vespe.features.lint.base import Found, Node, Subject
from vespe.features.lint.refusals import limit_rule, refused
from vespe.schemas.explain import short
from vespe.schemas.subschemas import References, Steps, children

_APIS: Final = ("openai", "anthropic")
_MODE: Final = "in strict mode takes"
_DEEPEST: Final = 200
_SMALL_ENUM: Final = 250


def strict_api(subject: Subject) -> str | None:
    """Return the API whose strict mode a definition asks for, by `"strict": true` in that API's
    shape; None for none.
    """
    api = "openai" if subject.api == "openai-responses" else subject.api
    document = subject.document
    inner = (
        document.get("function", document)
        if isinstance(document, dict) and api == "openai"
        else document
    )
    return api if api in _APIS and isinstance(inner, dict) and inner.get("strict") is True else None


def strict_problems(schema: Any, nodes: tuple[Node, ...], *, api: str) -> Iterator[Found]:
    """Say all that `api`'s strict mode refuses of an input schema whose object subschemas are
    `nodes`.
    """
    for check in (_closed, _required, _keywords, _formats, _sizes, _counts):
        yield from check(nodes, api)
    if isinstance(schema, dict):
        yield from _root(schema, api)
        yield from _recursion(schema, api)


def _closed(nodes: tuple[Node, ...], api: str) -> Iterator[Found]:
    for node in nodes:
        for limit in limits_on("strict-closed", api=api) if _is_object(node.schema) else ():
            if node.schema.get("additionalProperties") is not False:
                at = "/additionalProperties" if "additionalProperties" in node.schema else ""
                yield _refused(
                    limit,
                    limit.words,
                    f"{node.pointer}{at}",
                    fix='add `"additionalProperties": false`',
                )


def _required(nodes: tuple[Node, ...], api: str) -> Iterator[Found]:
    for node in nodes:
        named, required = node.schema.get("properties"), node.schema.get("required")
        missing = (
            [name for name in named if not isinstance(required, list) or name not in required]
            if isinstance(named, dict)
            else []
        )
        for limit in limits_on("strict-required", api=api) if missing else ():
            message = (
                f"{limit.words}, and {join_words(map(short, missing), most=5)} "
                f"{'is' if len(missing) == 1 else 'are'} not"
            )
            yield _refused(
                limit,
                message,
                node.pointer,
                fix='require it, and let it be null: `"type": ["string", "null"]`',
            )


def _keywords(nodes: tuple[Node, ...], api: str) -> Iterator[Found]:
    for node in nodes:
        for limit in limits_on("strict-keywords", api=api):
            for keyword in sorted(limit.value & node.schema.keys()):
                yield _refused(
                    limit,
                    limit.words,
                    f"{node.pointer}{pointer_to((keyword,))}",
                    fix="state it in the description",
                )
        for limit in limits_on("strict-min-items", api=api):
            least = node.schema.get("minItems", 0)
            if isinstance(least, int) and least > limit.value:
                yield _refused(
                    limit,
                    limit.words,
                    f"{node.pointer}/minItems",
                    fix="state it in the description",
                )


def _formats(nodes: tuple[Node, ...], api: str) -> Iterator[Found]:
    for node in nodes:
        wanted = node.schema.get("format")
        for limit in limits_on("strict-formats", api=api) if isinstance(wanted, str) else ():
            if wanted not in limit.value:
                yield _refused(
                    limit,
                    f"the formats {limit.words}, not {short(wanted)}",
                    f"{node.pointer}/format",
                    fix="remove it",
                )


def _root(schema: dict[str, Any], api: str) -> Iterator[Found]:
    for limit in limits_on("strict-root", api=api):
        for keyword in sorted(limit.value & schema.keys()):
            yield _refused(
                limit,
                limit.words,
                pointer_to((keyword,)),
                fix="put the alternatives into a property",
            )


def _recursion(schema: dict[str, Any], api: str) -> Iterator[Found]:
    for limit in limits_on("strict-recursion", api=api):
        place = _Search(References(schema)).place(schema, ())
        if place is not None:
            yield _refused(
                limit, limit.words, pointer_to(place), fix="write out the levels that are needed"
            )


class _Search:
    """Looks for a reference that leads back to a schema around it; each schema is entered once, so
    that no bomb goes off.
    """

    def __init__(self, references: References) -> None:
        self.references = references
        self.around: set[int] = set()
        self.done: set[int] = set()

    def place(self, schema: Any, at: Steps) -> Steps | None:
        if not isinstance(schema, dict) or id(schema) in self.done or len(self.around) > _DEEPEST:
            return None
        self.around.add(id(schema))
        found = self._below(schema, at)
        self.around.remove(id(schema))
        self.done.add(id(schema))
        return found

    def _below(self, schema: dict[str, Any], at: Steps) -> Steps | None:
        target = (
            self.references.target(schema["$ref"]) if isinstance(schema.get("$ref"), str) else None
        )
        if isinstance(target, dict) and (
            id(target) in self.around or self.place(target, (*at, "$ref")) is not None
        ):
            return (*at, "$ref")
        return next(
            (
                found
                for steps, sub in children(schema)
                if (found := self.place(sub, (*at, *steps))) is not None
            ),
            None,
        )


def _sizes(nodes: tuple[Node, ...], api: str) -> Iterator[Found]:
    names = [name for node in nodes for name in _named(node)]
    values = [value for node in nodes for value in _values(node.schema)]
    depth = max((_object_depth(node) for node in nodes), default=0)
    characters = sum(map(len, names)) + sum(
        len(value) for value in values if isinstance(value, str)
    )
    for about, size in (
        ("depth", depth),
        ("properties", len(names)),
        ("enum", len(values)),
        ("characters", characters),
    ):
        for limit in limits_on(f"strict-{about}", api=api):
            if size > limit.value:
                yield _refused(
                    limit,
                    f"{limit.words}; this one has {size:,}",
                    "",
                    fix="make a smaller tool, or several",
                )
    for node in nodes:
        texts = [value for value in _values(node.schema) if isinstance(value, str)]
        for limit in (
            limits_on("strict-enum-characters", api=api) if len(texts) > _SMALL_ENUM else ()
        ):
            if sum(map(len, texts)) > limit.value:
                yield _refused(
                    limit,
                    limit.words,
                    f"{node.pointer}/enum",
                    fix="take a string, and check it in the tool",
                )


def _counts(nodes: tuple[Node, ...], api: str) -> Iterator[Found]:
    optional = sum(len(_named(node) - set(_texts(node.schema.get("required")))) for node in nodes)
    unions = sum(
        "anyOf" in node.schema or isinstance(node.schema.get("type"), list) for node in nodes
    )
    for about, size in (("optional", optional), ("unions", unions)):
        for limit in limits_on(f"strict-{about}", api=api):
            if size > limit.value:
                yield _refused(
                    limit,
                    f"{limit.words}, and here are {size}",
                    "",
                    fix="make more of them required, or turn strict mode off",
                )


def _refused(limit: Limit, message: str, pointer: str, *, fix: str) -> Found:
    return refused(limit, f"{_MODE} {message}", "input_schema", pointer=pointer, fix=fix)


def _is_object(schema: dict[str, Any]) -> bool:
    said = schema.get("type")
    return said == "object" or (isinstance(said, list) and "object" in said)


def _named(node: Node) -> set[str]:
    named = node.schema.get("properties")
    return set(named) if isinstance(named, dict) else set()


def _values(schema: dict[str, Any]) -> list[Any]:
    values = schema.get("enum")
    return [
        *(values if isinstance(values, list) else ()),
        *((schema["const"],) if "const" in schema else ()),
    ]


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _object_depth(node: Node) -> int:
    return sum(step == "properties" for step in node.steps[::2]) + sum(
        step == "items" for step in node.steps
    )


@limit_rule(
    "portability-strict",
    "strict-closed",
    "strict-required",
    "strict-keywords",
    "strict-root",
    "strict-recursion",
    "strict-depth",
)
def _check(subject: Subject) -> Iterator[Found]:
    """A definition asks for strict mode and is outside its subset of JSON Schema.

    With `strict: true` the API compiles the schema into a grammar, and refuses the request if that
    is not possible.

    Bad: {"strict": true, "parameters": {"type": "object", "properties": {"city": {"type":
    "string"}}}}
    Good: {"strict": true, "parameters": {"type": "object", "properties": {"city": {"type":
    "string"}}, "required": ["city"], "additionalProperties": false}}
    """
    if api := strict_api(subject):
        inputs = tuple(node for node in subject.nodes if node.part == "input_schema")
        yield from strict_problems(subject.input_schema, inputs, api=api)
