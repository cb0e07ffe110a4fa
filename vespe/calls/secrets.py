"""Under which names a tool's secret is looked up, a kit's own name for it first and never another
kit's; and its value taken out again.
"""

from collections.abc import Collection
from typing import Final

from vespe.models import JsonValue

_OWN: Final = "VESPE_"
_APART: Final = "__"


def names_of_secret(name: str, *, kit_id: str | None) -> tuple[str, ...]:
    """Return the variables that may hold the secret `name`, the first that is set counts.

    For a tool of a kit that is `VESPE_<KIT>__NAME`, then NAME itself; for the project's own tools
    NAME alone. A name that begins with `VESPE_` and holds `__` is some kit's own, and is never
    looked up as it stands. A name with `__`, or `_` in front, has no kit's own form: two kits and
    two names could share it.
    """
    found = (
        [scoped_name(name, kit_id)]
        if kit_id is not None and _APART not in name and not name.startswith("_")
        else []
    )
    return (*found, *(() if name.upper().startswith(_OWN) and _APART in name else (name,)))


def scoped_name(name: str, kit_id: str) -> str:
    """Return the variable in which the secret `name` is one kit's alone."""
    return f"{_OWN}{kit_id.upper()}{_APART}{name}"


def redact(value: JsonValue, secrets: Collection[str]) -> JsonValue:
    """Return `value` with `***` for each secret in it (`redaction.redact`), the same value where
    there is no secret to find.
    """
    if not secrets:
        return value
    from vespe.documents import redaction

    return redaction.redact(value, secrets)
