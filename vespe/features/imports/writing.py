"""An import written out: a whole kit in one step, or a kit of an earlier import brought up to date,
file by file.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from vespe import defaults
from vespe.documents import pointers, strict_json
from vespe.errors import InvalidDocument, Refused, StorageError, UsageError
from vespe.features.imports.made import Imported, LeftOut, Made, plain, short, uid_of
from vespe.files import atomic, staging
from vespe.files.trees import TreeFile
from vespe.kits import create, edited, roots, store
from vespe.kits import staging as kit_staging
from vespe.lazy import shlex
from vespe.models import JsonObject, JsonValue
from vespe.processes.signals import uninterruptible
from vespe.schemas import validator
from vespe.tools import allowances, drafts, unknown_keys
from vespe.tools import directory as tool_directory
from vespe.tools.secret_items import names_in

MARK: Final = "imported"
"""The key of config.json that says from where a tool was imported; an update takes away no
other.
"""
_UPDATING: Final = (
    "`--update` shows what has changed in the source, and asks before it updates the kit"
)
_MENDED: Final = 6
"""How often a schema is mended and judged again: what is taken out may show what was behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A kit's files by path; `tools` are config.json documents by uid, `left_out` all that became
    no tool.
    """

    kit_id: str
    files: dict[str, TreeFile]
    tools: dict[str, JsonObject]
    left_out: tuple[LeftOut, ...]
    notes: dict[str, tuple[str, ...]]


def written(imported: Imported, kit_id: str) -> Written:
    """Return the files of the kit; a tool that Vespe could not load is mended, or left out with the
    reason.

    Raises UsageError for what is no kit id.
    """
    if not roots.KIT_ID.fullmatch(kit_id) or kit_id in defaults.DEFAULT_ORDER:
        raise UsageError(
            f"{kit_id!r} is not a valid kit id: use lower-case letters, digits and _, at most 64"
        )
    files: dict[str, TreeFile] = {}
    tools: dict[str, JsonObject] = {}
    left_out = list(imported.left_out)
    judged: set[str] = set()
    notes: dict[str, tuple[str, ...]] = {}
    for made in imported.tools:
        document: JsonObject = {"uid": uid_of(kit_id, made.name), **made.document, "kit_id": kit_id}
        document[MARK] = {"kind": imported.kind, "from": made.source}
        mended, problem = _mended(document, kit_id, judged)
        if problem:
            left_out.append(LeftOut(what=made.source, reason=problem))
            continue
        uid = str(document["uid"])
        tools[uid], notes[made.name] = document, (*made.notes, *mended)
        files[f"{uid}/{defaults.CONFIG_FILE}"] = _text(strict_json.dump_json(document))
        files[f"{uid}/{defaults.DESCRIPTION_FILE}"] = _text(_long(made, document, notes[made.name]))
        files |= {f"{uid}/{name}": file for name, file in made.files.items()}
    title = short(" ".join(imported.title.split()), most=120) or kit_id
    config = _config(imported, kit_id, title=title, tools=tools)
    kept = create.kit_files(kit_id, title=title, summary=str(config["description"]))
    files |= {name: _text(text) for name, text in kept.items()}
    files[defaults.KIT_CONFIG_FILE] = _text(strict_json.dump_json(config))
    return Written(
        kit_id=kit_id,
        files=files,
        tools=tools,
        left_out=tuple(left_out),
        notes={name: said for name, said in notes.items() if said},
    )


@contextlib.contextmanager
def staged(made: Written, parent: str) -> Iterator[str]:
    """Write the kit aside in `parent`, and return its directory there, until it is placed or
    compared; raises StorageError.
    """
    atomic.private_directory(parent, mode=0o755)
    with atomic.locked(parent):
        staging.sweep(parent)
        with (
            staging.staging(parent, target=os.path.join(parent, made.kit_id)) as aside,
            atomic.translated("make", aside),
        ):
            path = os.path.join(aside, made.kit_id)
            os.mkdir(path, 0o755)
            for name, file in made.files.items():
                _write(os.path.join(path, name), file)
            yield path


def place(path: str, target: str) -> None:
    """Bring a staged kit to its place, where nothing is; raises UsageError where something is,
    StorageError.
    """
    if os.path.lexists(target):
        raise UsageError(
            f"{target} exists already",
            hint=_UPDATING,
        )
    with atomic.translated("make", target):
        kit_staging.flush(path)
    staging.place(path, target)


def check_target(target: str, *, update: bool) -> None:
    """Raise UsageError or Refused where a kit can neither come to its place nor be brought up to
    date.
    """
    if not update and os.path.lexists(target):
        raise UsageError(
            f"{target} exists already",
            hint=_UPDATING,
        )
    if update and not os.path.isfile(os.path.join(target, defaults.KIT_CONFIG_FILE)):
        raise UsageError(f"there is no kit in {target} to update", hint=_elsewhere(target))
    if update and store.owner_of(target) is not None:
        raise Refused(
            f"{target} is an installed kit. It is pinned, so it cannot be changed",
            hint="use --into DIR, where you edit it",
        )


def _elsewhere(target: str) -> str:
    """Say where the kit is that an update may mean, and otherwise how to create one."""
    kit_id = os.path.basename(target)
    here = os.path.join(os.getcwd(), kit_id)
    found = edited.found_directory(kit_id)
    if found is None and os.path.isfile(os.path.join(here, defaults.KIT_CONFIG_FILE)):
        found = here
    if found is None:
        return "remove --update to create it"
    parent = shlex.quote(os.path.relpath(os.path.dirname(found)))
    return f"the kit {kit_id} is in {found}: add `--into {parent}`"


def bring_up_to_date(made: Written, target: str) -> int:
    """Write what differs into a kit, take away imported tools that are no more, and return how many
    files changed.

    Whatever else its author has put there stays: other tools and files, keys of kit_config.json
    that an import does not set, and keys of a tool's config.json that Vespe does not know.
    """
    changed = 0
    with uninterruptible(), atomic.locked(target):
        for name, file in made.files.items():
            if name == defaults.KIT_CONFIG_FILE:
                file = _text(
                    strict_json.dump_json({**_known(target), **strict_json.parse_object(file.data)})
                )
            path = os.path.join(target, name)
            if name.startswith("tool-") and os.path.basename(name) == defaults.CONFIG_FILE:
                file = _with_unknown(path, file)
            if (
                name.startswith("tool-")
                or name == defaults.KIT_CONFIG_FILE
                or not os.path.lexists(path)
            ) and _differs(path, file):
                atomic.private_directory(os.path.dirname(path), mode=0o755)
                atomic.write_atomic(path, file.data, mode=0o755 if file.executable else 0o644)
                changed += 1
        for uid in [
            uid
            for uid in sorted(os.listdir(target))
            if uid not in made.tools and _is_imported(os.path.join(target, uid))
        ]:
            staging.remove(os.path.join(target, uid))
            changed += 1
    return changed


def _with_unknown(path: str, file: TreeFile) -> TreeFile:
    try:
        former = strict_json.read_object_if_there(path)
    except (InvalidDocument, StorageError):
        return file
    made = strict_json.parse_object(file.data)
    document = unknown_keys.kept(made, former)
    return file if document == made else _text(strict_json.dump_json(document))


def _known(target: str) -> JsonObject:
    return strict_json.read_object(os.path.join(target, defaults.KIT_CONFIG_FILE))


def _differs(path: str, file: TreeFile) -> bool:
    try:
        return (
            atomic.read_bytes(path, limit=max(len(file.data) * 2, defaults.MAX_FILE_BYTES))
            != file.data
        )
    except (InvalidDocument, StorageError):
        return True


def _is_imported(directory: str) -> bool:
    try:
        return MARK in strict_json.read_object_if_there(
            os.path.join(directory, defaults.CONFIG_FILE)
        )
    except (InvalidDocument, StorageError):
        return False


def _config(
    imported: Imported, kit_id: str, *, title: str, tools: dict[str, JsonObject]
) -> JsonObject:
    kinds = {
        str(tool["implementation_details"]["type"])
        for tool in tools.values()
        if "implementation_details" in tool
    }
    secrets = {name for tool in tools.values() for name in names_in(tool.get("secrets"))}
    return {
        "kit_id": kit_id,
        "name": title,
        "description": imported.description or f"The tools of {title}.",
        "version": " ".join(imported.version.split())[:60],
        "allow_types": [kind for kind in allowances.allowed_types() if kind in kinds],
        "allow_hosts": list(imported.hosts),
        "secrets": sorted(secrets),
    }


def _long(made: Made, document: JsonObject, notes: tuple[str, ...]) -> str:
    text = drafts.describe(str(document["name"]), document)
    if made.long_text:
        text += f"\n## In full\n\n{plain(made.long_text)}\n"
    if notes:
        text += "\n## Differences from the source\n\n" + "".join(
            f"- {' '.join(plain(note).split())}\n" for note in notes
        )
    return text


def _text(text: str) -> TreeFile:
    return TreeFile(data=text.encode("utf-8"))


def _write(path: str, file: TreeFile) -> None:
    atomic.private_directory(os.path.dirname(path), mode=0o755)
    with open(
        os.open(
            path,
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC,
            0o755 if file.executable else 0o644,
        ),
        "wb",
    ) as stream:
        stream.write(file.data)


# What Vespe would not load


def _mended(document: JsonObject, kit_id: str, judged: set[str]) -> tuple[list[str], str]:
    """Take out of a tool's input schema what keeps it from loading; return what that was, and what
    is wrong still.

    `judged` are the schemas, as JSON, in which nothing was wrong: many operations have the same.
    """
    notes: list[str] = []
    schema = document["schema"]["input"]
    for turn in range(_MENDED):
        problem = _problem(document, kit_id, judged)
        if not problem:
            return notes, ""
        found = validator.check_schema(schema)
        if not found:
            return notes, problem
        if turn < _MENDED - 2 and all(_taken_out(schema, one.pointer) for one in found):
            notes += [
                f"{one.pointer} of its schema is left out, because it {one.message}"
                for one in found
            ]
        elif schema.pop("$defs", None) is not None:
            schema["properties"] = _opened(schema["properties"])
            notes.append(
                f"its schema {found[0].message}, so any value is allowed where it refers to "
                "another schema"
            )
        else:
            return notes, problem
    return notes, problem


def _problem(document: JsonObject, kit_id: str, judged: set[str]) -> str:
    try:
        config = strict_json.compact_json(document).encode("utf-8")
        schema = strict_json.compact_json(document["schema"]["input"])
    except (ValueError, RecursionError) as error:
        return f"it cannot be written as JSON: {error}"
    if len(config) > defaults.MAX_FILE_BYTES // 2:
        return (
            f"its description is {len(config)} bytes long; "
            f"a tool's may have {defaults.MAX_FILE_BYTES // 2}"
        )
    if schema in judged:
        names = document["schema"]["input"].get("properties", {})
        bare = {
            **document,
            "schema": {"input": {"type": "object", "properties": {key: {} for key in names}}},
        }
        config = strict_json.compact_json(bare).encode("utf-8")
    problem = tool_directory.verdict(config, uid=str(document["uid"]), kit_id=kit_id).problem or ""
    if not problem:
        judged.add(schema)
    return problem


def _opened(schema: Any) -> Any:
    """Return a schema without its references: what they led to is whatever a caller gives."""
    if isinstance(schema, dict):
        return {
            key: _opened(item)
            for key, item in schema.items()
            if key != "$ref" or not isinstance(item, str)
        }
    return [_opened(item) for item in schema] if isinstance(schema, list) else schema


def _taken_out(schema: JsonValue, pointer: str) -> bool:
    """Leave out the keyword that a pointer names, or the nearest above it; False for the schema
    itself, or what is gone.
    """
    steps = pointers.steps_of(pointer)
    holder: Any = None
    key = ""
    for step in steps:
        if isinstance(schema, dict) and step in schema:
            holder, key, schema = schema, step, schema[step]
        elif isinstance(schema, list) and step.isdecimal() and int(step) < len(schema):
            schema = schema[int(step)]
        else:
            break
    if holder is None:
        return False
    if len(steps) > 1 and steps[-2] in ("properties", "$defs", "patternProperties"):
        holder[key] = {}
    else:
        holder.pop(key, None)
    return True
