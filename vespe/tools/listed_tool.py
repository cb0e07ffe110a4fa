"""A tool that was listed, and is parsed when somebody needs more than the listing says.

Why: an agent with 10,000 tools declares three of its own to the model, which calls a few of the
others. To parse all of them takes a third of the processor time of its start.
"""

from typing import Any, Final

from vespe.documents import strict_json
from vespe.models import Entry, Tool
from vespe.tools import directory

_FIELDS: Final[tuple[str, ...]] = Tool.__slots__


class ListedTool(Tool):
    """A tool that has the fields that its entry says, and takes all of them from its config.json
    when another one is first read. It keeps the bytes and does not read the file again: a file that
    was changed or removed in between makes no difference.
    """

    __slots__ = ("_listed",)
    _listed: tuple[bytes, str | None]

    def __getattr__(self, name: str) -> Any:
        """Parse the config.json. Python only calls this for a field that is not set."""
        if name not in _FIELDS:
            raise AttributeError(name)
        config, kit_id = self._listed
        whole = directory.tool_of(
            strict_json.parse_object(config),
            str(self.directory),
            scope=self.scope,
            kit_id=kit_id,
        )
        for field in _FIELDS:
            object.__setattr__(self, field, getattr(whole, field))
        return getattr(whole, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tool):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in _FIELDS)

    __hash__ = Tool.__hash__


ListedTool.__slots__ = _FIELDS  # type: ignore[assignment]  # what a copy and JSON take of a record


def listed_tool(entry: Entry, config: bytes) -> Tool:
    """Return the tool of an entry without a problem, which was made from the bytes `config`."""
    made = ListedTool.__new__(ListedTool)
    known = {
        "uid": entry.uid,
        "name": entry.name,
        "directory": entry.path,
        "scope": entry.scope,
        "behind": None,
        "_listed": (config, entry.kit_id),
    }
    for field, value in known.items():
        object.__setattr__(made, field, value)
    return made
