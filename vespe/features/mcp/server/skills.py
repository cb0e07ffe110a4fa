"""The skills of kits (SEP-2640): what `vespe kit pack --as skill` writes of a kit, served while
every tool that it names is served too, under the names that this project has for them.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any, Final

from vespe import defaults, features
from vespe.documents import safe_yaml, strict_json
from vespe.errors import VespeError
from vespe.features.mcp.server import pages, revisions
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError
from vespe.files.digests import sha256
from vespe.kits import roots
from vespe.kits.mcp_snapshots import SERVER_KEY
from vespe.models import JsonObject, Tool
from vespe.records import dataclass

_FILE: Final = "SKILL.md"
_TYPE: Final = "text/markdown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill: its only file is `data`, at `uri`; `frontmatter` is what stands at its head."""

    uri: str
    data: bytes
    frontmatter: JsonObject

    def entry(self) -> JsonObject:
        """Return the skill as `skills/list` has it."""
        digest = f"sha256:{sha256(self.data).hexdigest()}"
        file: JsonObject = {"uri": self.uri, "digest": digest, "size": len(self.data)}
        return {"uri": self.uri, "frontmatter": self.frontmatter, "resources": [file]}

    def contents(self) -> JsonObject:
        """Return the result of `resources/read`."""
        text = self.data.decode("utf-8")
        return {"contents": [{"uri": self.uri, "mimeType": _TYPE, "text": text}]}


def page(tools: Iterable[Tool], cursor: str | None) -> JsonObject:
    """Return one page of `skills/list`; raises ProtocolError for a cursor that is none."""
    found = {skill.uri: skill for skill in skills_of(tools)}
    names = tuple(sorted(found))
    return pages.page(names, cursor, key="skills", item=lambda uri: found[uri].entry())


def get(tools: Iterable[Tool], uri: str) -> Skill:
    """Return a skill; raises ProtocolError where none of that address is served."""
    for skill in skills_of(tools):
        if skill.uri == uri:
            return skill
    raise ProtocolError(INVALID_PARAMS, f"there is no skill {uri[:200]!r}")


def skills_of(tools: Iterable[Tool]) -> Iterator[Skill]:
    """Return the skills of the kits all of whose tools are among those that are served."""
    by_kit: dict[str, list[Tool]] = {}
    for tool in tools:
        if tool.kit_id is not None and tool.directory is not None:
            by_kit.setdefault(os.path.dirname(tool.directory), []).append(tool)
    for place, served in by_kit.items():
        try:
            skill = _skill(place, served)
        except (VespeError, OSError):  # a kit that cannot be read has no skill
            continue
        if skill is not None:
            yield skill


def _skill(place: str, served: list[Tool]) -> Skill | None:
    document = strict_json.read_object(os.path.join(place, defaults.KIT_CONFIG_FILE))
    if SERVER_KEY in document or len(list(roots.tool_directories(place))) != len(served):
        return None
    forms, writer = features.load("packing", "forms"), features.load("packing", "skill")
    kit: Any = forms.PackedKit(
        kit_id=str(document.get("kit_id")),
        document=document,
        tools=tuple(sorted(served, key=lambda tool: tool.name)),
        files={},
        executable=frozenset(),
    )
    ((path, data),) = writer.skill(kit).items()
    text = data.decode("utf-8")
    if features.load("lint", "hidden_text").invisible(text):
        return None  # what its author does not see is not told in the kit's name
    head: Any = safe_yaml.parse_yaml(text.split("---\n", 2)[1])
    return Skill(uri=f"{revisions.SKILL_SCHEME}{path}", data=data, frontmatter=head)
