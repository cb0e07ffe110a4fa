"""A kit whose tools go beyond what it states that they may use does not become active."""

import contextlib
import os
from collections.abc import Iterator

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.models import JsonObject
from vespe.tools import allowances
from vespe.tools import directory as tool_directory


def refuse_excess(directory: str, kit_id: str) -> None:
    """Raise Refused, which names each tool and what it wants, where a tool in the kit's directory goes beyond its kit_config.json."""
    limits = tool_directory.limits_above(directory)
    if limits == allowances.KitLimits():
        return
    beyond: dict[str, list[str]] = {}
    for config in _configs(directory):
        if found := [sentence for _, sentence in allowances.excess(config, limits)]:
            beyond[str(config.get("name") or config.get("uid"))] = found
    if beyond:
        said = "; ".join(f"its tool {name!r} {' and '.join(found)}" for name, found in beyond.items())
        raise Refused(
            f"the kit {kit_id} goes beyond what it states, so it is not activated: {said}",
            hint=f"its author states it in {defaults.KIT_CONFIG_FILE}, or takes it out of the tool",
            details={"kit_id": kit_id, "tools": beyond},
        )


def _configs(directory: str) -> Iterator[JsonObject]:
    """Give the config.json of every tool; a broken one never runs, which the listing says."""
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        raise StorageError("read", directory, error) from error
    for path in (os.path.join(directory, name, defaults.CONFIG_FILE) for name in names if not name.startswith(".")):
        with contextlib.suppress(InvalidDocument, StorageError):
            yield strict_json.read_object(path)
