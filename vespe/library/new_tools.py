"""What a program says of a new tool, as a draft of it."""

import os
from collections.abc import Mapping
from typing import Any, TypedDict

from vespe.errors import UsageError
from vespe.models import JsonObject, Template
from vespe.tools import drafts


class ToolDraft(TypedDict, total=False):
    """What a new tool may be given: where it comes from, and every key of config.json that is its
    author's to set.

    `type` is a template's, `source` a `FILE.py:function`. `path`, `entrypoint` and `args` replace
    the template's; `fields` is an object of such keys, for a program that has them as data.
    """

    type: Template
    source: str | os.PathLike[str]
    description: str
    path: str
    entrypoint: str
    args: JsonObject
    version: str
    tags: list[str]
    limits: JsonObject
    secrets: list[str | JsonObject]
    annotations: JsonObject
    examples: list[JsonObject]
    permissions: JsonObject
    fields: Mapping[str, Any]


def drafted(
    name: str, schema: JsonObject | None, details: JsonObject | None, *, draft: ToolDraft
) -> drafts.Draft:
    """Return the draft of a tool: of its schema and its implementation, of a type, or of a source.
    Raises UsageError.
    """
    given: dict[str, Any] = dict(draft)
    type_, source = given.pop("type", None), given.pop("source", None)
    fields = {**given.pop("fields", {}), **given}
    schema = fields.pop("schema", None) if schema is None else schema
    if sum(way is not None for way in (type_, source, details)) > 1:
        raise UsageError("give one of a type, a source and implementation_details")
    if source is not None:
        return drafts.draft_from_function(
            os.fspath(source), name=name, fields={**fields, "schema": schema}
        )
    if type_ is not None:
        return drafts.draft_tool(name, type_, fields={**fields, "schema": schema})
    if schema is None and details is None:
        raise UsageError("give a schema, a type or a source")
    return drafts.draft_from_parts(name, schema, details, fields=fields)
