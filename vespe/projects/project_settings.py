"""What the user may set in a project's config.json by `vespe config set --project`: which settings
those are, and what each may be.
"""

import os
from typing import Final

from vespe.documents.near import suggest
from vespe.errors import NotFound, Refused, UsageError
from vespe.models import JsonObject, JsonValue, ProjectConfig
from vespe.projects import project, user_config
from vespe.schemas import published
from vespe.schemas.explain import messages_of
from vespe.schemas.validator import compile_schema

KEYS: Final = (
    "active_kits",
    "approvals.ask",
    "approvals.deny",
    "approvals.flow",
    "lint",
    "sandbox",
    "tool_budget",
    "tool_resolution_order",
    "tools",
)
"""The settings of a project, of which `lint` and `tools` have keys of their own."""
_OPEN: Final = ("lint", "tools")


def set_value(root: str | os.PathLike[str], key: str, value: JsonValue) -> ProjectConfig:
    """Set a dotted key in a project's config.json; an approval of the project that holds goes on to
    hold. Raises Refused for what only the user's own configuration says, and UsageError for a value
    that the setting cannot have.
    """
    *parents, last = _parts(key)
    nested: JsonObject = {last: value}
    for part in reversed(parents):
        nested = {part: nested}
    schema = compile_schema(published.read_published("project"), closed=False)
    if found := schema.violations(nested):
        raise UsageError(f"{key} cannot be set to that: {messages_of(found)}")
    if key == "sandbox":
        _refuse_wider(str(value))

    def change(document: JsonObject) -> None:
        for part in parents:
            document = document.setdefault(part, {})
            if not isinstance(document, dict):
                raise UsageError(f"{key} cannot be set: {part} is not an object")
        document[last] = value

    return project.renew_config(root, change)


def unset_value(root: str | os.PathLike[str], key: str) -> ProjectConfig:
    """Remove a dotted key from a project's config.json; raises NotFound where it is not set."""
    parts = _parts(key)

    def change(document: JsonObject) -> None:
        at = [document]
        for part in parts:
            if not isinstance(at[-1], dict) or part not in at[-1]:
                raise NotFound(
                    f"{project.config_path(root)} does not set {key}",
                    hint="`vespe config list --origin` shows where each setting comes from",
                )
            at.append(at[-1][part])
        for holder, part in reversed([*zip(at, parts, strict=False)]):
            if at[-1] is holder[part] or not holder[part]:
                del holder[part]

    return project.renew_config(root, change)


def get_value(document: JsonObject, key: str) -> JsonValue:
    """Return what a project's config.json says under a dotted key; None where it says nothing."""
    value: JsonValue = document
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def is_known(key: str) -> bool:
    """Whether a dotted key is a setting of a project."""
    return key in KEYS or key.partition(".")[0] in _OPEN


def _parts(key: str) -> list[str]:
    parts = key.split(".")
    if all(parts) and is_known(key):
        return parts
    if parts[0] in user_config.KEYS or parts[0] in project.RESTRICTED:
        raise Refused(
            f"a project cannot set {key}: only the user can",
            hint=f"`vespe config set {key} VALUE` sets it in your own configuration",
        )
    hint = suggest(key, KEYS) or f"a project can set {', '.join(KEYS)}"
    raise Refused(f"a project cannot set {key}: it is not one of its settings", hint=hint)


def _refuse_wider(level: str) -> None:
    own = user_config.load_user_config().sandbox
    levels = user_config.SANDBOX
    if levels.index(level) < levels.index(own):
        raise Refused(
            f"a project can only make the sandbox stricter than your own setting, {own}: only "
            "the user can weaken it",
            hint=f"`vespe config set sandbox {level}` changes your own setting, for every project",
        )
