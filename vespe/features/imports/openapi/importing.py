"""An OpenAPI description as a kit: which operations it has, which are wanted, and the tool of
each.
"""

from collections.abc import Iterator
from typing import Final

from vespe.errors import UsageError
from vespe.features.imports.made import Imported, LeftOut, Made, Selection, plain, selected, short
from vespe.features.imports.openapi import names, servers
from vespe.features.imports.openapi.documents import At, Documents, Unresolved
from vespe.features.imports.openapi.operations import Builder, Operation
from vespe.features.imports.openapi.security import listed

MAX_TOOLS: Final = 3000
"""Of one kit: an installed one has at most 10,000 files."""
_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")


def is_openapi(value: object) -> bool:
    """Whether a document looks like a description of an HTTP API, of any version."""
    return isinstance(value, dict) and (
        "openapi" in value or "swagger" in value or ("paths" in value and "info" in value)
    )


def import_openapi(documents: Documents, *, kit_id: str, selection: Selection) -> Imported:
    """Make a tool of each operation that is selected; raises UsageError where none is."""
    operations, left_out = _operations(documents)
    every = names.tool_names(
        (one.said.text("operationId"), one.method, one.path) for one in operations
    )
    pairs = list(zip(operations, every, strict=True))
    chosen = selected(
        pairs, selection, tags=lambda pair: pair[0].tags, path=lambda pair: pair[0].path
    )
    if operations and not chosen:
        raise UsageError(
            f"none of the {len(operations)} operations matches your selection (--tag, --path)",
            hint=_offered(operations),
        )
    if len(chosen) > MAX_TOOLS:
        hint = "take a part of them: --tag TAG, --path GLOB or --max N"
        raise UsageError(
            f"the description has {len(chosen)} operations, and a kit can have {MAX_TOOLS} tools",
            hint=hint,
        )
    builder = Builder(documents, kit_id=kit_id, server=selection.server)
    tools: list[Made] = []
    for one, name in chosen:
        made = builder.build(one, name)
        if isinstance(made, Made):
            tools.append(made)
        else:
            left_out.append(made)
    info = documents.root.get("info")
    return Imported(
        kind="openapi",
        title=plain(info.text("title")) or kit_id,
        description=short(plain(info.text("description"))),
        version=plain(str(info.get("version").value or "")) or "0",
        tools=tuple(tools),
        left_out=tuple(left_out),
        notes=(
            *builder.notes,
            *_beside(documents),
            *(f"secret {line}" for line in listed(builder.secrets)),
        ),
        hosts=tuple(servers.hosts_of(builder.urls)),
        unselected=len(operations) - len(chosen),
    )


def _operations(documents: Documents) -> tuple[list[Operation], list[LeftOut]]:
    found: list[Operation] = []
    left_out: list[LeftOut] = []
    for path, at in documents.root.get("paths").items():
        if path.startswith("x-") or at.value is None:
            continue
        try:
            item = _item(documents, at)
        except Unresolved as error:
            left_out.append(LeftOut(what=path, reason=str(error)))
            continue
        for method, said in _methods(item):
            try:
                one = Operation(method=method, path=path, item=item, said=documents.follow(said))
            except Unresolved as error:
                left_out.append(LeftOut(what=f"{method} {path}", reason=str(error)))
                continue
            if isinstance(one.said.value, dict):
                found.append(one)
            else:
                left_out.append(LeftOut(what=one.source, reason="it is not described by an object"))
    return found, left_out


def _item(documents: Documents, at: At) -> At:
    """Return a path's item; what stands beside its reference counts before what that leads to."""
    item = documents.follow(at)
    beside = (
        {key: value for key, value in at.value.items() if key != "$ref"}
        if isinstance(at.value, dict) and item is not at
        else {}
    )
    return (
        At({**item.value, **beside}, item.base) if beside and isinstance(item.value, dict) else item
    )


def _methods(item: At) -> Iterator[tuple[str, At]]:
    for key, said in item.items():
        if key in _METHODS:
            yield key.upper(), said
    for key, said in item.get("additionalOperations").items():
        yield key, said


def _offered(operations: list[Operation]) -> str:
    tags = list(dict.fromkeys(tag for one in operations for tag in one.tags))
    if tags:
        return f"its tags are {', '.join(tags[:12])}{', …' if len(tags) > 12 else ''}"
    return f"its first path is {operations[0].path}"


def _beside(documents: Documents) -> Iterator[str]:
    webhooks = sum(1 for key in ("webhooks", "x-webhooks") for _ in documents.root.get(key).items())
    if webhooks:
        yield f"{webhooks} webhooks are left out: the API makes these calls itself"
