"""A kit whose tools go beyond what it states that they may use does not become active."""

import os

from vespe import catalog, defaults, documents, kit_limits, tooldir
from vespe.errors import InvalidDocument, Refused, StorageError


def refuse_excess(directory: str, kit_id: str) -> None:
    """Raise Refused, which names each tool and what it wants, where a tool in the kit's directory goes beyond its kit_config.json."""
    limits = tooldir.limits_above(directory)
    if limits == kit_limits.KitLimits():
        return
    beyond: dict[str, list[str]] = {}
    for entry in catalog.scan(directory, scope=kit_id, kit_id=kit_id).values():
        try:
            config = documents.read_object(os.path.join(entry.path, defaults.CONFIG_FILE))
        except (InvalidDocument, StorageError):
            continue  # it is broken, which the listing says, and never runs
        if found := [sentence for _, sentence in kit_limits.excess(config, limits)]:
            beyond[entry.name or entry.uid] = found
    if beyond:
        said = "; ".join(f"its tool {name!r} {' and '.join(found)}" for name, found in beyond.items())
        raise Refused(
            f"the kit {kit_id} goes beyond what it states, so it is not activated: {said}",
            hint=f"its author states it in {defaults.KIT_CONFIG_FILE}, or takes it out of the tool",
            details={"kit_id": kit_id, "tools": beyond},
        )
