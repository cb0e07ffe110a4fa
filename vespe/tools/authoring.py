"""Tools made, renamed, copied and removed on disk: each change whole or not at all, under the lock
of the tools directory.
"""

import itertools
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import replace

from vespe.defaults import CONFIG_FILE, DESCRIPTION_FILE, PROJECT_TOOLS
from vespe.documents import strict_json
from vespe.errors import (
    InvalidDocument,
    InvalidTool,
    Refused,
    StorageError,
    ToolNotFound,
    UsageError,
)
from vespe.files import atomic, staging
from vespe.files.trees import TreeFile, place_tree, read_tree, remove_tree
from vespe.models import JsonObject, Tool
from vespe.records import dataclass
from vespe.schemas import published
from vespe.tools import directory as tool_directory
from vespe.tools import origins
from vespe.tools.drafts import Draft, check_name, describe, redescribed

Taken = Callable[[str], bool]
"""Whether the tools directory has a tool of this name; asked under the lock, so it must look at the
disk each time.
"""
Used = Callable[[str], bool]
"""Whether another directory of tools has this uid, which a new tool should not share."""
Staged = Callable[[str, str], None]
"""Told the new uid and where the tool's directory is, beneath the tools directory, before it comes
to its place; an error stops it.
"""
Written = Callable[[Mapping[str, bytes], JsonObject], None]
"""Told the files of a tool that were written, by their names in its directory, and its new
config.json.
"""


def create_tool(
    tools_dir: str | os.PathLike[str],
    draft: Draft,
    *,
    taken: Taken,
    staged: Staged | None = None,
    used: Used | None = None,
) -> Tool:
    """Make the tool of a draft in `tools_dir` under a new uid, which begins with its name, and
    return it as it loads.

    Of two processes that create one name only one can win: the other gets the UsageError of a name
    that is taken. Raises InvalidTool for a draft that would not load, StorageError where the disk
    refuses; then nothing is left.
    """
    check_name(draft.name)
    return _Placing(os.fspath(tools_dir), taken, staged, used).place(
        draft.document, {**_description(draft), **draft.files}
    )


def rename_tool(
    tools_dir: str | os.PathLike[str],
    uid: str,
    *,
    name: str,
    taken: Taken,
    written: Written | None = None,
) -> Tool:
    """Give a tool another name, in its config.json and in the title of its description.md; its uid,
    directory and unknown keys stay. `written` is called as in `change_tool`.

    Raises UsageError for a name that is taken or not allowed, ToolNotFound, InvalidDocument for a
    config.json that is no JSON object. InvalidTool, after the change, for what was wrong before it
    too.
    """
    check_name(name)

    def named(document: JsonObject) -> JsonObject:
        if document.get("name") != name:
            _refuse_taken(name, taken)
        return {**document, "name": name}

    change_tool(tools_dir, uid, named, written=written)
    return tool_directory.load(os.path.join(os.fspath(tools_dir), uid), scope=PROJECT_TOOLS)


def change_tool(
    tools_dir: str | os.PathLike[str],
    uid: str,
    change: Callable[[JsonObject], JsonObject],
    *,
    written: Written | None = None,
) -> tuple[JsonObject, JsonObject]:
    """Write what `change` makes of a tool's config.json, bring the parts of its description.md that
    Vespe wrote in step, and return the config.json as it was and as it is; `written` is told what
    was written.

    Raises ToolNotFound, InvalidDocument for a config.json that is no JSON object, StorageError, and
    what `change` raises; then nothing is written.
    """
    parent = os.fspath(tools_dir)
    _refuse_linked(parent)
    directory = _directory(parent, uid)
    config = os.path.join(directory, CONFIG_FILE)
    with atomic.locked(parent):
        before = strict_json.read_object(config)
        after = change(before)
        if after != before:
            # config.json last: if the page could not be written, the same change can be made again
            files = _page_beside(directory, before, after)
            files[CONFIG_FILE] = strict_json.dump_json(after).encode()
            for name, data in files.items():
                path = os.path.join(directory, name)
                atomic.write_atomic(path, data, mode=stat.S_IMODE(os.lstat(path).st_mode))
            if written is not None:
                written(files, after)
    return before, after


def _page_beside(directory: str, before: JsonObject, after: JsonObject) -> dict[str, bytes]:
    # a page that cannot be read is not a reason to refuse a change of config.json
    try:
        page = page_in_step(directory, before, after)
    except (InvalidDocument, StorageError):
        page = None
    return {} if page is None else {DESCRIPTION_FILE: page}


def update_page(directory: str, before: JsonObject) -> None:
    """Bring the parts of a tool's description.md that Vespe wrote in step with its config.json,
    which was `before` until now. Raises StorageError where it cannot be written.
    """
    after = strict_json.read_object(os.path.join(directory, CONFIG_FILE))
    for name, data in _page_beside(directory, before, after).items():
        path = os.path.join(directory, name)
        atomic.write_atomic(path, data, mode=stat.S_IMODE(os.lstat(path).st_mode))


def page_in_step(directory: str, before: JsonObject, after: JsonObject) -> bytes | None:
    """Return a tool's description.md with the parts that Vespe wrote for the config.json `before`
    as they are for `after`; None where that changes nothing, or Vespe does not write to that file.

    Raises InvalidDocument and StorageError for a file that cannot be read.
    """
    path = os.path.join(directory, DESCRIPTION_FILE)
    if not os.path.isfile(path) or os.path.islink(path):
        return None
    data = atomic.read_bytes(path)
    page = _redescribed(data, before, after)
    return None if page == data else page


def _redescribed(data: bytes, before: JsonObject, after: JsonObject) -> bytes:
    try:
        return redescribed(data.decode("utf-8"), before, after).encode()
    except UnicodeDecodeError:
        return data


def copy_tool(
    source: str | os.PathLike[str],
    tools_dir: str | os.PathLike[str],
    *,
    taken: Taken,
    name: str | None = None,
    staged: Staged | None = None,
    used: Used | None = None,
) -> Tool:
    """Copy a tool's directory, of this project or of a kit, into `tools_dir` under a new uid, and
    under `name` where given.

    Its files come with their bytes and their executable bit; a link, a FIFO or a device among them
    stops the copy. The title of its description.md follows the name. The copy belongs to no kit.
    Raises UsageError for a name that is taken, InvalidDocument and InvalidTool for a source that
    cannot be a tool; then nothing is left.
    """
    directory = os.fspath(source)
    files = read_tree(directory)
    path = os.path.join(directory, CONFIG_FILE)
    document = (
        strict_json.parse_object(files[CONFIG_FILE].data, path=path)
        if CONFIG_FILE in files
        else strict_json.read_object(path)
    )
    project = origins.project_of(os.path.join(os.fspath(tools_dir), "tool"))
    is_own = project is not None and project == origins.project_of(directory)
    left_out = ("kit_id",) if is_own else ("kit_id", origins.KEY)
    before = document
    document = {key: value for key, value in document.items() if key not in left_out}
    if name is not None:
        check_name(name)
        document["name"] = name
    if (page := files.get(DESCRIPTION_FILE)) is not None:
        data = _redescribed(page.data, before, document)
        files = {**files, DESCRIPTION_FILE: replace(page, data=data)}
    return _Placing(os.fspath(tools_dir), taken, staged, used).place(document, files)


def write_config(
    tool: Tool, document: JsonObject, *, files: Mapping[str, bytes] | None = None
) -> None:
    """Write the config.json of a tool as it was loaded, and before it other files of its directory,
    by their names, with the modes that they have.

    Raises InvalidDocument where the file is not as it was then, Refused where it is not in the
    project, and StorageError.
    """
    path = os.path.join(tool.directory or "", CONFIG_FILE)
    if tool.scope == PROJECT_TOOLS:
        _refuse_linked(os.path.dirname(tool.directory or ""))
    if strict_json.read_object(path) != tool.document:
        raise InvalidDocument(
            "was changed in the meantime", path=path, hint="run the command again"
        )
    for name, data in (files or {}).items():
        place = os.path.join(tool.directory or "", name)
        there = os.path.lexists(place)
        mode = stat.S_IMODE(os.lstat(place).st_mode) if there else 0o644
        atomic.write_atomic(place, data, mode=mode)
    if document != tool.document:
        atomic.write_atomic(path, strict_json.dump_json(document))


def remove_tool(tools_dir: str | os.PathLike[str], uid: str) -> None:
    """Delete a tool's directory, broken ones too: it leaves its place in one step, then its files
    go; links are never followed.

    Raises ToolNotFound where there is none, Refused for a link or anything that is not directly in
    `tools_dir`.
    """
    parent = os.fspath(tools_dir)
    _refuse_linked(parent)
    if (
        os.path.isdir(parent)
        and os.path.basename(uid) == uid
        and not os.path.lexists(os.path.join(parent, uid))
    ):
        raise ToolNotFound(uid, searched=(parent,))
    with atomic.locked(parent):
        staging.sweep(parent)
        remove_tree(parent, uid)


@dataclass(frozen=True, slots=True)
class _Placing:
    """How a new tool comes into `parent`."""

    parent: str
    taken: Taken
    staged: Staged | None
    used: Used | None = None

    def place(self, document: JsonObject, files: Mapping[str, TreeFile]) -> Tool:
        _make(self.parent)
        _refuse_linked(self.parent)
        with atomic.locked(self.parent):
            staging.sweep(self.parent)
            if isinstance(document.get("name"), str):
                _refuse_taken(document["name"], self.taken)
            uid = self._free_uid(str(document.get("name", "")))
            config = strict_json.dump_json(
                _completed(document, uid, published.reference_from(self.parent))
            )
            loaded: list[Tool] = []

            def check(directory: str) -> None:
                loaded.append(_loaded(directory, uid))
                if self.staged is not None:
                    self.staged(uid, os.path.relpath(directory, self.parent))

            place = place_tree(
                self.parent,
                uid,
                {**files, CONFIG_FILE: TreeFile(data=config.encode())},
                check=check,
            )
        return replace(loaded[0], directory=place)

    def _free_uid(self, name: str) -> str:
        """Return `tool-NAME`, or the first of `tool-NAME-2`, … that is free here and in the other
        directories of tools.
        """
        stem = f"tool-{name.lower().strip('_-')[:48] or 'unnamed'}"
        numbered = (f"{stem}-{number}" for number in itertools.count(2))
        return next(uid for uid in itertools.chain((stem,), numbered) if not self._is_used(uid))

    def _is_used(self, uid: str) -> bool:
        return os.path.lexists(os.path.join(self.parent, uid)) or (
            self.used is not None and self.used(uid)
        )


def _completed(document: JsonObject, uid: str, schema: str | None) -> JsonObject:
    first: JsonObject = {"$schema": schema} if schema is not None else {}
    return {
        **first,
        "uid": uid,
        **{key: value for key, value in document.items() if key not in ("uid", *first)},
    }


def _loaded(staged: str, uid: str) -> Tool:
    """Load the tool where it is made; what is wrong is said without the place, which is gone by the
    time anybody reads it.
    """
    try:
        return tool_directory.load(staged, scope=PROJECT_TOOLS)
    except InvalidTool as error:
        refused = InvalidTool(uid, error.problems, path="the new tool")
        refused.hint = "nothing was made; correct that and run the command again"
        raise refused from None


def _description(draft: Draft) -> dict[str, TreeFile]:
    return {DESCRIPTION_FILE: TreeFile(data=describe(draft.name, draft.document).encode())}


def _refuse_linked(tools_dir: str) -> None:
    """Refuse to change what a link leads to: it came with the project, and what is elsewhere does
    not belong to it.
    """
    if os.path.islink(tools_dir):
        hint = (
            "make it a directory of the project, or change the tools in the directory it links to"
        )
        raise Refused(
            f"{tools_dir} is a link to {os.path.realpath(tools_dir)}, so nothing is written there",
            hint=hint,
        )


def _refuse_taken(name: str, taken: Taken) -> None:
    if taken(name):
        raise UsageError(
            f"there is already a tool called {name!r} here",
            hint="choose another name, or rename or remove that one",
        )


def _directory(parent: str, uid: str) -> str:
    directory = os.path.join(parent, uid)
    if (
        os.path.basename(uid) != uid
        or uid in ("", ".", "..")
        or os.path.islink(directory)
        or not os.path.isdir(directory)
    ):
        raise ToolNotFound(uid, searched=(parent,))
    return directory


def _make(directory: str) -> None:
    try:
        os.mkdir(directory, 0o755)
    except FileExistsError:
        if not os.path.isdir(directory):
            raise InvalidDocument(
                "is not a directory, so no tool can be made in it", path=directory
            ) from None
    except OSError as error:
        raise StorageError("create", directory, error) from error
