"""`permissions` in a tool's config.json: what it may read, write, reach and start."""

from typing import Any, Final

from vespe.models import JsonObject, Permissions

LISTS: Final = ("read", "write", "network", "programs")
MAX_MEMORY_MB: Final = 1 << 20


def permissions_of(document: JsonObject) -> Permissions:
    """Return what the object `permissions` states; what is of a wrong type, which loading the tool
    refuses, grants nothing.
    """
    lists: dict[str, Any] = {key: _texts(document[key]) for key in LISTS if key in document}
    memory = document.get("memory_mb")
    return Permissions(
        **lists,
        memory_mb=memory if isinstance(memory, int) and not isinstance(memory, bool) else None,
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
