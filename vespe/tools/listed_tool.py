"""A tool that was listed, and is parsed when somebody needs more than the listing says.

Why: an agent with 10,000 tools declares three of its own to the model, which calls a few of the
others. To parse all of them takes a third of the processor time of its start.
"""

from typing import Any, Final

from vespe.models import Entry, Tool
from vespe.tools import directory
from vespe.tools.directory import Judged

_FIELDS: Final[tuple[str, ...]] = Tool.__slots__


class ListedTool(Tool):
    """A tool that has the fields that its entry says, and takes all of them from its config.json
    when another one is first read. It keeps what was judged, and does not read the tool's file and
    that of its kit again: one that was changed or removed in between makes no difference.
    """

    __slots__ = ("_listed",)
    _listed: tuple[Judged, str | None]

    def __getattr__(self, name: str) -> Any:
        """Parse the config.json. Python only calls this for a field that is not set."""
        if name not in _FIELDS:
            raise AttributeError(name)
        judged, kit_id = self._listed
        whole = directory.tool_of(judged, str(self.directory), scope=self.scope, kit_id=kit_id)
        for field in _FIELDS:
            object.__setattr__(self, field, getattr(whole, field))
        return getattr(whole, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tool):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in _FIELDS)

    __hash__ = Tool.__hash__


ListedTool.__slots__ = _FIELDS  # type: ignore[assignment]  # what a copy and JSON take of a record


def listed_tool(entry: Entry, judged: Judged) -> Tool:
    """Return the tool of an entry without a problem, and what it was made from."""
    made = ListedTool.__new__(ListedTool)
    known = {
        "uid": entry.uid,
        "name": entry.name,
        "directory": entry.path,
        "scope": entry.scope,
        "behind": None,
        "_listed": (judged, entry.kit_id),
    }
    for field, value in known.items():
        object.__setattr__(made, field, value)
    return made
