"""A kit as it is packed: its facts, its tools, its files; and what every form says of it in the
same words.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument
from vespe.files.entries import EXECUTABLE
from vespe.kits import archives, origins, roots
from vespe.models import JsonObject, Tool
from vespe.records import dataclass
from vespe.tools import directory as tool_directory
from vespe.tools.secret_items import SecretItem, items_of, merged

Files = Mapping[str, bytes]
"""What a form gives: contents by path, with `/`."""
_LINE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedKit:
    """A kit that is packed: `document` is its kit_config.json, `files` are all that an installation
    would have.
    """

    kit_id: str
    document: JsonObject
    tools: tuple[Tool, ...]
    files: Files
    executable: frozenset[str]

    @property
    def title(self) -> str:
        """The kit's name for people."""
        return _one_line(self.document.get("name") or self.kit_id)

    @property
    def description(self) -> str:
        """What the kit is for, in one line."""
        return _one_line(self.document.get("description") or f"The tools of {self.title}.")

    @property
    def version(self) -> str:
        """The kit's version; 0.0.0 where it has none."""
        return str(self.document.get("version") or "0.0.0")

    @property
    def dashed(self) -> str:
        """The kit's id as skills, plugins and bundles spell names."""
        return self.kit_id.replace("_", "-").strip("-")

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets that its tools ask for, sorted."""
        return tuple(sorted({name for tool in self.tools for name in tool.secrets}))

    def purpose(self, secret: str) -> SecretItem:
        """Return what its tools, or else the kit itself, say that a secret is for."""
        items = [item for tool in self.tools for item in items_of(tool) if item.name == secret]
        return merged((*items, SecretItem(name=secret)))


def read_kit(which: str) -> PackedKit:
    """Read the kit in a directory, or of an id; raises KitNotFound, NotFound, InvalidDocument,
    InvalidTool, Refused, StorageError.
    """
    place = archives.kit_directory(which)
    document = strict_json.read_object(os.path.join(place, defaults.KIT_CONFIG_FILE))
    kit_id = str(document.get("kit_id"))
    if problem := roots.config_problem(document, kit_id):
        raise InvalidDocument(
            problem.reason,
            path=os.path.join(place, defaults.KIT_CONFIG_FILE),
            pointer=problem.pointer,
        )
    tree = origins.folder_tree(place, kit_id, left_out={".git"})
    files = {entry.path: data for entry, data in tree.read(tree.entries)}
    executable = frozenset(entry.path for entry in tree.entries if entry.mode == EXECUTABLE)
    loaded = (
        tool_directory.load(os.path.join(place, name), scope=kit_id, kit_id=kit_id)
        for name in roots.tool_directories(place)
    )
    tools = tuple(sorted(loaded, key=lambda tool: tool.name))
    return PackedKit(
        kit_id=kit_id, document=document, tools=tools, files=files, executable=executable
    )


def as_json(document: JsonObject) -> bytes:
    """Return a document as the forms write it."""
    return strict_json.dump_json(document).encode("utf-8")


def serving(directory: str, *, more: Sequence[str] = ()) -> JsonObject:
    """Return the entry of an MCP client that serves the kit in `directory`, with the tools at work
    in the client's own directory.
    """
    return {"command": "vespe", "args": ["mcp", "serve", "--kit-dir", directory, *more]}


def _one_line(text: object) -> str:
    return _LINE.sub(" ", str(text)).strip()
