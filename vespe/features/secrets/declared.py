"""Which secrets the tools of a project declare, and what has become of each: here, missing, or not
to be had.
"""

import os
from collections.abc import Iterable
from typing import Final

from vespe import defaults, errors
from vespe.calls.secrets import SecretValues, names_of_secret
from vespe.documents import redaction, strict_json
from vespe.features.secrets import settings
from vespe.features.secrets.references import KNOWN, store_of
from vespe.models import JsonObject
from vespe.projects.workspace import Workspace
from vespe.records import dataclass
from vespe.tools.secret_items import SecretItem, items_of, merged

SHORT: Final = (
    f"shorter than {redaction.SHORTEST} characters: it is only redacted in results where it is a "
    "separate word"
)
_STORES: Final = ("keyring:", "file:", "env:", "op://", "age:", "se://")


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretNeed:
    """A secret that tools declare: its `name`, the `names` that are looked up (the first that has a
    value counts), the `tools` that declare it, and what they say that it is for.
    """

    name: str
    names: tuple[str, ...]
    tools: tuple[str, ...] = ()
    item: SecretItem | None = None

    @property
    def purpose(self) -> JsonObject:
        """`description` and `docs_url`, null where no tool says any."""
        return {
            "description": (self.item and self.item.description) or None,
            "docs_url": (self.item and self.item.docs_url) or None,
        }

    @property
    def remedy(self) -> str:
        """Say how it gets a value."""
        if not self.names:
            return "no name is looked up"
        first = (
            f"make one at {self.item.docs_url}; then " if self.item and self.item.docs_url else ""
        )
        return f"{first}`vespe secret set {self.names[0]}`"

    def values(self) -> SecretValues:
        """Return where it is looked up."""
        return SecretValues(environment=os.environ, configured=settings.configured())

    @property
    def shown(self) -> str:
        """The name that has the value, a kit's own before the plain one; its `name` where none
        has.
        """
        values = self.values()
        return next(
            (one for one in self.names if values.environment.get(one) or one in values.configured),
            self.name,
        )

    def source(self) -> str | None:
        """Say where its value comes from: `environment`, or the store; None for nowhere."""
        values = self.values()
        for name in self.names:
            if values.environment.get(name):
                return "environment"
            if said := values.configured.get(name):
                return store_of(said)
        return None

    def proved(self) -> JsonObject:
        """Fetch the value, and return what is to be said of it, without it: `name`, `tools`,
        `source`, `state` (`ok`, `missing`, `unavailable`), and `message`, a sentence or null.
        """
        said: JsonObject = {"name": self.name, "tools": list(self.tools), "source": self.source()}
        said |= self.purpose
        try:
            value = self.values().find(self.names)
        except errors.Interrupted:
            raise
        except errors.VespeError as error:
            why = str(error)
            if isinstance(error, errors.SecretUnavailable):
                # Its name is said beside the message.
                why = f"cannot be read from {error.place}: {error.why}"
            message = f"{why}{f' ({error.hint})' if error.hint else ''}"
            return {**said, "state": "unavailable", "message": message}
        if not value:
            what = f"{self.item.description}; " if self.item and self.item.description else ""
            return {**said, "state": "missing", "message": f"has no value: {what}{self.remedy}"}
        return {**said, "state": "ok", "message": remark(value, said["source"])}


def remark(value: str, source: str | None) -> str | None:
    """Return what is to be said of a value that works, without quoting it; None for nothing."""
    if len(value.strip()) < redaction.SHORTEST:
        return SHORT
    if source == "value" and (value.startswith(_STORES) or _is_object(value)):
        return (
            'it is used as the value; to refer to a store, write {"ref": …} '
            "(`vespe secret set --ref`)"
        )
    return None


def _is_object(value: str) -> bool:
    """Whether a string is a reference in JSON, as `config set secrets.NAME` takes for a value."""
    if not value.lstrip().startswith("{"):
        return False
    try:
        return not {*KNOWN}.isdisjoint(strict_json.parse_object(value))
    except errors.InvalidDocument:
        return False


def needs(workspace: Workspace) -> list[SecretNeed]:
    """Return the secrets that the available tools declare, by name; those of tools that cannot be
    loaded are left out.
    """
    found: dict[tuple[str, tuple[str, ...]], list[tuple[str, SecretItem]]] = {}
    for entry in workspace.available():
        try:
            tool = workspace.load(entry)
        except errors.VespeError:
            continue
        kit = None if entry.scope in ("", defaults.PROJECT_TOOLS) else entry.scope
        for item in items_of(tool):
            key = item.name, names_of_secret(item.name, kit_id=kit)
            found.setdefault(key, []).append((tool.name, item))
    return [
        SecretNeed(
            name=name,
            names=names,
            tools=tuple(tool for tool, _ in found[name, names]),
            item=merged(item for _, item in found[name, names]),
        )
        for name, names in sorted(found)
    ]


def configured(names: Iterable[str]) -> list[SecretNeed]:
    """Return secrets of the user's configuration by their names, whatever declares them."""
    return [SecretNeed(name=name, names=(name,)) for name in names]
