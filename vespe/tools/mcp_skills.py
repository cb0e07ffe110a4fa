"""The skills that an MCP server lists (SEP-2640): which of them can be pinned, what is pinned of
them, and whether what is read is what was pinned.

A skill is a `SKILL.md` and the files beside it, each with a digest and a size. Nothing of it is
read until somebody loads it.
"""

import base64
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from vespe.documents import safe_yaml, strict_json
from vespe.documents.escaping import inert_line
from vespe.errors import InvalidDocument, Refused
from vespe.files.digests import sha256
from vespe.lazy import pattern, urls
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass
from vespe.tools import mcp_definitions

MAIN: Final = "SKILL.md"
READER: Final = "read_skill"
"""The name of the tool that reads the skills of a server."""
MAX_FILES: Final = 512
MAX_SIZE: Final = 16 * 1024 * 1024
"""What SEP-2640 lets a skill have: files, and bytes of all of them."""
MAX_SKILLS: Final = 200
_MAX_KEPT: Final = 384 * 1024
"""The bytes that may be stored of all skills of a server: a kit's files and a lock are limited."""
_MAX_SENTENCES: Final = 20
_MAX_DESCRIPTION: Final = 1024
_NAME: Final = pattern(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_URI: Final = pattern(r"[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9._~:/@!$&'()*+,;=%-]{1,1000}")
_TOOL: Final = pattern(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_DIGEST: Final = pattern(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSkills:
    """The skills of one server: `skills` by the name that each has here (`uri`, `frontmatter` and
    `files`, by their paths in the skill), and the name of the `tool` that reads them.
    """

    tool: str = READER
    skills: Mapping[str, JsonObject] = field(default_factory=dict)

    def to_json(self) -> JsonObject:
        """Return what a kit keeps of them; {} where there are none."""
        return {"tool": self.tool, "skills": dict(self.skills)} if self.skills else {}

    def pins(self) -> JsonObject:
        """Return what a lock says of them: the tool, and by skill the digest of each file and of
        the frontmatter, whose description models are shown; {} where there are none.
        """
        if not self.skills:
            return {}
        files = {
            str(skill["uri"]): {
                str(file["uri"]): file["digest"] for file in skill["files"].values()
            }
            for skill in self.skills.values()
        }
        heads = {
            str(skill["uri"]): _frontmatter_digest(skill["frontmatter"])
            for skill in self.skills.values()
        }
        return {"tool": self.tool, "files": files, "frontmatter": heads}


NONE: Final = ServerSkills()


def from_json(document: JsonObject) -> ServerSkills:
    """Return the skills that `to_json` wrote."""
    skills = document.get("skills")
    if not isinstance(skills, dict) or not isinstance(document.get("tool"), str):
        return NONE
    return ServerSkills(tool=document["tool"], skills=skills)


def is_pins(value: JsonValue) -> bool:
    """Whether a value is what `pins` returns."""
    if value == {}:
        return True
    if not isinstance(value, dict) or not _TOOL.fullmatch(str(value.get("tool"))):
        return False
    files, heads = value.get("files"), value.get("frontmatter")
    return (
        isinstance(files, dict)
        and isinstance(heads, dict)
        and files.keys() == heads.keys()
        and all(
            isinstance(pins, dict) and all(isinstance(one, str) for one in pins.values())
            for pins in (*files.values(), heads)
        )
    )


def of_entries(entries: Iterable[JsonValue], *, tool: str) -> tuple[ServerSkills, tuple[str, ...]]:
    """Return the skills of entries as `skills/list` has them, and sentences on those that are left
    out: one that cannot be pinned, or that no host has to take. They are few, however many skills
    a server has: what is reviewed with them must stay in sight.
    """
    found: list[tuple[str, JsonObject]] = []
    left_out: list[str] = []
    too_many = kept = 0
    seen: set[str] = set()
    for entry in entries:
        said = entry if isinstance(entry, dict) else {}
        if problem := _problem(said, seen):
            shown = inert_line(str(said.get("uri"))[:200])
            left_out.append(f"the skill {shown} is left out: {problem}")
            continue
        skill = _skill(said)
        seen.add(said["uri"])
        size = len(strict_json.dump_json(skill))
        if len(found) == MAX_SKILLS or kept + size > _MAX_KEPT:
            too_many += 1
            continue
        kept += size
        found.append((said["frontmatter"]["name"], skill))
    if (more := len(left_out) - _MAX_SENTENCES) > 0:
        left_out[_MAX_SENTENCES:] = [_counted_out(more)]
    if too_many:
        left_out.append(
            f"{_counted_out(too_many)}: a kit has at most {MAX_SKILLS} skills, whose frontmatter "
            f"and lists of files have at most {_MAX_KEPT // 1024} KiB"
        )
    names = Counter(name for name, _ in found)
    paths = Counter(_path_of(skill) for _, skill in found)
    made: dict[str, JsonObject] = {}
    for name, skill in in_order(found):
        path = _path_of(skill)
        # The shortest that means one skill alone: two paths may differ in their scheme only.
        called = name if names[name] == 1 else path if paths[path] == 1 else _place_of(skill)
        made[called] = skill
    return ServerSkills(tool=tool, skills=made), tuple(left_out)


def in_order(found: Iterable[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
    """Return skills in the order of their names and addresses, whatever order a server has."""
    return sorted(found, key=lambda pair: (pair[0], pair[1]["uri"]))


def reader(kit_id: str, found: ServerSkills) -> JsonObject:
    """Return the definition of the tool that reads the skills, as a server would say it."""
    listed = "\n".join(f"- {name}: {_described(skill)}" for name, skill in found.skills.items())
    return {
        "name": found.tool,
        "description": f"Read a skill of the MCP server `{kit_id}`: instructions, written by that "
        "server, for one kind of task. Read it before you begin such a task. The text comes from "
        f"the server, not from the user. The skills:\n{listed}",
        "inputSchema": {
            "type": "object",
            "properties": {
                "skill": {
                    "type": "string",
                    "enum": list(found.skills),
                    "description": "The name of the skill.",
                },
                "file": {
                    "type": "string",
                    "default": MAIN,
                    "description": "A file of the skill that its text names.",
                },
            },
            "required": ["skill"],
            "additionalProperties": False,
        },
        "annotations": {
            "title": f"Read a skill of {kit_id}",
            "readOnlyHint": True,
            "openWorldHint": True,
        },
    }


def pinned(found: ServerSkills) -> JsonObject:
    """Return what the reading tool's own configuration pins: each skill's address, the digest of
    its frontmatter, and its files.
    """
    return {
        name: {
            "uri": skill["uri"],
            "frontmatter": _frontmatter_digest(skill["frontmatter"]),
            "files": {
                path: {"uri": file["uri"], "digest": file["digest"], "size": file["size"]}
                for path, file in skill["files"].items()
            },
        }
        for name, skill in found.skills.items()
    }


def changes(before: ServerSkills, after: ServerSkills) -> Iterator[str]:
    """Say in lines what differs between two sets of skills."""
    old = {skill["uri"]: skill for skill in before.skills.values()}
    new = {skill["uri"]: skill for skill in after.skills.values()}
    yield from (f"- skill {uri}: the server no longer has it" for uri in old if uri not in new)
    for uri, skill in new.items():
        if uri not in old:
            yield f"+ skill {uri}: {_described(skill)} ({_counted(skill)})"
            continue
        for name in sorted({*old[uri]["files"], *skill["files"]}):
            one, other = old[uri]["files"].get(name), skill["files"].get(name)
            if one is None or other is None:
                yield f"~ skill {uri}: {'+' if one is None else '-'} {name}"
            elif one["digest"] != other["digest"]:
                yield f"~ skill {uri}: {name} has other bytes"
        if old[uri]["frontmatter"] != skill["frontmatter"]:
            yield f"~ skill {uri}: frontmatter"
            yield f"    - {strict_json.compact_json(old[uri]['frontmatter'])}"
            yield f"    + {strict_json.compact_json(skill['frontmatter'])}"


def file_of(pins: JsonObject, skill: str, file: str) -> JsonObject | None:
    """Return the pins of a file of a skill; None where it is not among its files."""
    files = pins[skill]["files"] if skill in pins else {}
    found = files.get(file.removeprefix("./"))
    return found if isinstance(found, dict) else None


def content_of(result: JsonObject, uri: str) -> bytes | None:
    """Return the bytes of what `resources/read` gave for an address; None where it did not."""
    for content in result.get("contents") or ():
        if not isinstance(content, dict) or content.get("uri") != uri:
            continue
        if isinstance(text := content.get("text"), str):
            return text.encode("utf-8", "surrogatepass")
        if isinstance(blob := content.get("blob"), str):
            try:
                return base64.b64decode(blob, validate=True)
            except ValueError:
                return None
    return None


def check(data: bytes | None, pin: JsonObject, *, frontmatter: str = "") -> bytes:
    """Return the bytes of a file if they are those that were pinned; raises Refused, which shows
    nothing of them. `frontmatter` is the digest of what stands at the head of a SKILL.md.
    """
    uri = str(pin["uri"])
    if data is None:
        raise Refused(f"the server does not give {uri}, which it listed")
    if len(data) != pin["size"]:
        raise _differs(uri, f"it has {len(data)} bytes, and {pin['size']} were approved")
    if f"sha256:{sha256(data).hexdigest()}" != pin["digest"]:
        raise _differs(uri, "its SHA-256 is not the one that was approved")
    if frontmatter and _frontmatter_digest(_head(data)) != frontmatter:
        raise _differs(uri, "its frontmatter is not the one that `skills/list` states")
    return data


def changed_hint(kit: str) -> str:
    """Return what to do about a skill that is not what was approved."""
    if not kit:
        return "add its server as a kit, and review the skill there"
    return f"`vespe kit add-mcp {kit} --update` shows what changed, and asks"


def _differs(uri: str, why: str) -> Refused:
    return Refused(f"{uri} is not what was approved, and nothing of it is shown: {why}")


def _problem(entry: JsonObject, seen: set[str]) -> str:
    uri, head = entry.get("uri"), entry.get("frontmatter")
    if not isinstance(uri, str) or not _URI.fullmatch(uri) or not uri.endswith(f"/{MAIN}"):
        return f"its `uri` is not the URI of a {MAIN}"
    if uri in seen:
        return "the server lists it twice"
    name = head.get("name") if isinstance(head, dict) else None
    if not isinstance(head, dict) or not isinstance(name, str) or not _NAME.fullmatch(name):
        return "its name is not one of a skill"
    if not isinstance(head.get("description"), str) or not head["description"].strip():
        return "it has no description"
    if uri.removesuffix(f"/{MAIN}").rpartition("/")[2] != name:
        return f"its address does not end in its name, {name}"
    return _problem_of_files(entry.get("resources"), uri)


def _problem_of_files(files: JsonValue, uri: str) -> str:
    if files == "dynamic":
        return "its content is generated (`dynamic`), so that nothing could be approved"
    if not isinstance(files, list):
        return "it does not list its files"
    if len(files) > MAX_FILES:
        return f"it has more than {MAX_FILES} files"
    root, known, total = uri.removesuffix(MAIN), set[str](), 0
    for file in files:
        at, size = (file.get("uri"), file.get("size")) if isinstance(file, dict) else (None, None)
        if not isinstance(at, str) or not _URI.fullmatch(at) or not at.startswith(root):
            return "one of its files is not within it"
        if _is_unclear(at.removeprefix(root)) or at in known:
            return "its list of files is not one that can be read"
        if not _DIGEST.fullmatch(str(file.get("digest"))):
            return f"the digest of {at} is not a SHA-256"
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            return f"the size of {at} is missing"
        known.add(at)
        total += size
    if total > MAX_SIZE:
        return f"its files have more than {MAX_SIZE} bytes"
    return "" if uri in known else f"its list of files does not have its {MAIN}"


def _is_unclear(path: str) -> bool:
    """Whether a path may mean another file than it says, for whoever decodes or shortens it."""
    plain = urls.unquote(path).replace("\\", "/")
    return not plain.isprintable() or any(step in ("", ".", "..") for step in plain.split("/"))


def _skill(entry: JsonObject) -> JsonObject:
    root = str(entry["uri"]).removesuffix(MAIN)
    files = {
        str(file["uri"]).removeprefix(root): {
            "uri": file["uri"],
            "digest": file["digest"],
            "size": file["size"],
        }
        for file in sorted(entry["resources"], key=lambda one: str(one["uri"]))
    }
    return {"uri": entry["uri"], "frontmatter": entry["frontmatter"], "files": files}


def _place_of(skill: JsonObject) -> str:
    return str(skill["uri"]).removesuffix(f"/{MAIN}")


def _path_of(skill: JsonObject) -> str:
    return _place_of(skill).partition("://")[2]


def _described(skill: JsonObject) -> str:
    return " ".join(str(skill["frontmatter"]["description"]).split())[:_MAX_DESCRIPTION]


def _counted_out(count: int) -> str:
    return f"{count} more skill{'s are' if count != 1 else ' is'} left out"


def _counted(skill: JsonObject) -> str:
    count = len(skill["files"])
    return f"{count} file{'s' if count != 1 else ''}"


def _head(data: bytes) -> JsonObject:
    """Return the frontmatter of a SKILL.md; {} where it has none that can be read."""
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
        opening, head, *_ = text.split("---\n", 2)
        found: Any = safe_yaml.parse_yaml(head) if not opening else {}
    except (ValueError, InvalidDocument):
        return {}
    return found if isinstance(found, dict) else {}


def _frontmatter_digest(head: JsonObject) -> str:
    plain = _plain(head)
    return mcp_definitions.json_digest(plain if isinstance(plain, dict) else {})


def _plain(value: object) -> Any:
    """Return a value as JSON has it: a date of YAML as its text, 1.0 as 1."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, float) else str(value)
