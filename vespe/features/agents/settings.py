"""The settings of agents in the user's configuration: `agent` and `providers`."""

from typing import Final

from vespe.documents import fields
from vespe.documents.near import choice, suggest
from vespe.documents.pointers import escape_pointer
from vespe.errors import InvalidDocument, UsageError
from vespe.models import JsonObject, JsonValue

AGENT: Final = ("model", "provider", "tools_mode")
"""What `agent` has."""


def refuse_unknown(key: str) -> None:
    """Raise UsageError for a dotted key that is no setting."""
    group, _, rest = key.partition(".")
    if group == "agent" and rest and rest not in AGENT:
        raise UsageError(f"there is no setting {key!r}", hint=choice(rest.partition(".")[0], AGENT))


def refuse_unusable(key: str, value: JsonValue) -> None:
    """Raise UsageError for a value that a setting cannot have."""
    if key.partition(".")[0] == "providers":
        from vespe.features.agents import provider_settings

        provider_settings.refuse_unusable(key, value)


def check(key: str, value: JsonObject, path: str) -> None:
    """Check the object under `agent` or `providers`; raises InvalidDocument with the pointer."""
    if key == "agent":
        for name in AGENT:
            said = value.get(name, "")
            if not isinstance(said, str):
                pointer = f"/agent/{escape_pointer(name)}"
                raise fields.wrong_type("a string", said, path=path, pointer=pointer)
        if "tools_mode" in value:
            _check_mode(value["tools_mode"], path)
        return
    from vespe.features.agents import provider_settings

    for name, said in value.items():
        if not isinstance(said, dict):
            # What is wrong may hold a key all the same: it is not quoted.
            pointer = f"/providers/{escape_pointer(name)}"
            raise InvalidDocument("must be an object", path=path, pointer=pointer)
        provider_settings.read_settings(name, said, path=path)


def _check_mode(said: str, path: str) -> None:
    from vespe.adapters.modes import MODES  # most configurations name none

    if said not in MODES:
        raise InvalidDocument(
            f"must be one of {', '.join(MODES)}, not {said!r}",
            path=path,
            pointer="/agent/tools_mode",
            hint=suggest(said, MODES),
        )
