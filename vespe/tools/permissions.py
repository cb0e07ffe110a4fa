"""`permissions` in a tool's config.json: what it may read, write, reach and start.

Which there are says `PERMISSIONS` in `vespe/models.py`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vespe.models import PERMISSIONS, JsonObject, JsonValue, Permissions

LISTS: Final = tuple(name for name, one in PERMISSIONS.items() if one.values != "number")


def permissions_of(document: JsonObject) -> Permissions:
    """Return what the object `permissions` states; what is of a wrong type, which loading the tool
    refuses, grants nothing.
    """
    stated: dict[str, Any] = {
        name: _number(document[name]) if one.values == "number" else _texts(document[name])
        for name, one in PERMISSIONS.items()
        if name in document
    }
    return Permissions(**stated)


def stated_hosts(config: Mapping[str, Any]) -> Iterator[tuple[str, JsonValue]]:
    """Return each host that the `permissions` of a config.json state, with the pointer to it."""
    permissions = config.get("permissions")
    if not isinstance(permissions, dict):
        return
    for name, one in PERMISSIONS.items():
        hosts = permissions.get(name) if one.values == "host" else None
        for index, host in enumerate(hosts if isinstance(hosts, list) else ()):
            yield f"/permissions/{name}/{index}", host


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
