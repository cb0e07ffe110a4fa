"""What `vespe trust` shows before it asks: everything that a project would run, read from the very
bytes that are approved.
"""

import contextlib
import os
import re
import stat
from collections.abc import Callable, Mapping

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, NotTrusted, Refused, StorageError
from vespe.files import atomic, digests, identity, unreviewed, walk
from vespe.files.digests import File, TextDigest, keeps_line_ends
from vespe.files.identity import Place
from vespe.models import JsonObject, JsonValue, ProjectConfig
from vespe.processes.sandbox.places import find_leads
from vespe.records import dataclass
from vespe.tool_types import type_in
from vespe.tools import directory as tool_directory
from vespe.tools import in_place, secret_items
from vespe.tools.permissions import permissions_of, stated_hosts
from vespe.tools.python import script_lock
from vespe.tools.python.script_metadata import read_metadata
from vespe.trust import approvals, gate

_MAX_COMPARED = 16 * 1024 * 1024
_MOST_SHOWN = 64 * 1024
_MOST_TOOLS = 20
_COMMANDS = {".hg": "hgrc", ".jj": "repo/config.toml", defaults.PROJECT_DIR: defaults.CONFIG_FILE}
"""Where a directory has what its program takes commands from; `config` elsewhere."""
_SCRIPT_BLOCK = "# /// script"
_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?([^/?#]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReview:
    """One tool directory as it would be approved, broken ones too; nothing here is cut or escaped.

    `config` is the text of its config.json and `document` what it says, from which the other fields
    are read as far as they can be. `runs` is what would run: a shell tool's program and argv, an
    HTTP tool's method and URL, a Python tool's script and function; the rest is in
    `implementation`. `needs` are the lines of a script's `# /// script` block: pip installs what
    they name, and runs its code, at the first call; `unpinned` are those that can be other code
    tomorrow, where no lock says what they are. `outside` is the module of the project that it runs
    in place, which no approval covers; "" for none. `links` are paths that its `permissions` state
    and that open nothing, since links lead out of the project, each with where it leads. `secrets`
    are names of environment variables, `hosts` what it says it reaches, `files` paths in the
    directory.
    """

    uid: str
    directory: str
    name: str | None
    type: str | None
    implementation: JsonObject
    runs: tuple[str, ...]
    needs: tuple[str, ...]
    unpinned: tuple[str, ...]
    outside: str
    links: tuple[str, ...]
    secrets: tuple[str, ...]
    hosts: tuple[str, ...]
    files: tuple[str, ...]
    problems: tuple[str, ...]
    config: str
    document: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """Something new that other programs take commands from, and its `text`: its own, or that of a
    repository's configuration; "" where there is none.
    """

    new: unreviewed.New
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A project's tools at one moment, to show and then to approve.

    `digest` is None where `odd` (path beneath `.vespe/tools` -> why) says that somebody must first
    tidy up. `others` are files of no tool. `scopes` are the places that tools are taken from, in
    order: its own and those of active kits. `approved` is the kind of an approval that holds now;
    without one, `former` tells what differs from the last. `texts` are the files of `files` that
    are text and not too long to be compared. `home` is the project's directory. `new` is what is
    new in the project that other programs take commands from. `views` are the patterns of the
    project's `tools`, in the order of its config.json.
    """

    root: str
    digest: str | None
    tools: tuple[ToolReview, ...]
    others: tuple[str, ...]
    odd: Mapping[str, str]
    scopes: tuple[str, ...]
    approved: str | None
    former: gate.Former
    files: Mapping[str, File]
    texts: Mapping[str, str]
    home: Place | None
    place: Place | None
    new: tuple["NewFile", ...] = ()
    views: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of all the secrets that its tools would see."""
        return tuple(sorted({name for tool in self.tools for name in tool.secrets}))


def review(config: ProjectConfig) -> Review:
    """Gather what an approval of a project would allow; reads only, and writes nothing anywhere."""
    real = os.path.realpath(config.root)
    tools = os.path.join(real, *gate.TOOLS)
    keeping = _Keeping()
    place = identity.place_of(real, defaults.PROJECT_DIR)
    tree = walk.scan(real, *gate.TOOLS, visit=keeping.visit)
    beneath: dict[str, list[str]] = {}
    for path in sorted([*tree.files, *tree.odd]):
        uid, slash, rest = path.partition("/")
        beneath.setdefault(uid if slash else "", []).append(rest if slash else path)
    approved = gate.approved_place(real) or ("content" if gate.approval_of(config, tree) else None)
    return Review(
        root=real,
        digest=tree.digest,
        tools=tuple(
            review_tool(os.path.join(tools, uid), tuple(beneath[uid]), keeping.read, project=real)
            for uid in sorted(beneath)
            if uid
        ),
        others=tuple(path for path in beneath.get("", ()) if path),
        odd=tree.odd,
        approved=approved,
        scopes=gate.scopes_of(config),
        former=gate.Former() if approved else gate.former_approval(config, tree),
        files=tree.files,
        texts=keeping.texts(),
        home=identity.place_of(real),
        place=place,
        views=tuple(views) if isinstance(views := config.document.get("tools"), dict) else (),
        new=tuple(
            NewFile(new=one, text=_commands_in(os.path.join(real, one.path)))
            for one in (*unreviewed.left(real), *unreviewed.elsewhere(real))
        ),
    )


def note_reviewed(shown: Review) -> None:
    """Keep that the user has looked at what is new in the project; raises StorageError."""
    unreviewed.review(shown.root, [one.new for one in shown.new])


def _commands_in(path: str) -> str:
    """Return the text of a file that other programs take commands from."""
    place = path
    if os.path.basename(path) == "HEAD":
        place = os.path.join(os.path.dirname(path), "config")
    elif os.path.isdir(path):
        place = os.path.join(path, _COMMANDS.get(os.path.basename(path), "config"))
    text = ""
    with contextlib.suppress(InvalidDocument, StorageError):
        text = atomic.read_bytes(place, limit=_MOST_SHOWN).decode("utf-8", "replace")
    tools = _tools_in(path)
    return "\n".join(filter(None, (text.rstrip("\n"), *tools))) if tools else text


def _tools_in(path: str) -> list[str]:
    """Return the directories of a nested project's tools, whose code has a review of its own."""
    if os.path.basename(path) != defaults.PROJECT_DIR:
        return []
    try:
        names = sorted(os.listdir(os.path.join(path, defaults.TOOLS_DIR)))
    except OSError:
        return []
    more = [f"and {len(names) - _MOST_TOOLS} more"] if len(names) > _MOST_TOOLS else []
    return [*(f"{gate.PREFIX}{name}" for name in names[:_MOST_TOOLS]), *more]


def approve(shown: Review, *, develop: bool = False) -> gate.Grant:
    """Approve exactly what was shown: its bytes, or with `develop` its place, whatever becomes of
    what is in it.

    Raises NotTrusted when the project changed since it was shown, Refused where something in it
    cannot be vouched for, StorageError. Either way nothing is approved.
    """
    tree = walk.scan(shown.root, *gate.TOOLS)
    if tree != digests.Tree(files=shown.files, odd=shown.odd):
        raise NotTrusted(shown.root, changes=digests.changes(shown.files, tree, prefix=gate.PREFIX))
    if shown.home is None or identity.place_of(shown.root) != shown.home:
        raise NotTrusted(shown.root, changes=(f"{shown.root} is another directory now",))
    if develop:
        if identity.place_of(shown.root, defaults.PROJECT_DIR) != shown.place:
            raise NotTrusted(
                shown.root, changes=(f"{defaults.PROJECT_DIR} is another directory now",)
            )
        return gate.trust_place(shown.root)
    if tree.odd:
        said = "; ".join(digests.changes({}, digests.Tree(odd=tree.odd), prefix=gate.PREFIX))
        raise Refused(
            f"{shown.root} cannot be approved by its bytes: {said}",
            hint="remove it, or trust the place with `--develop`",
        )
    approval = approvals.store_content(
        shown.home, tree, secrets=shown.secrets, scopes=shown.scopes, texts=shown.texts
    )
    return gate.Grant(kind="content", root=shown.root, files=tree.files, secrets=approval.secrets)


class _Keeping:
    """Keeps the bytes that are shown while the scan hashes them, so that what is shown is what is
    approved.

    They are those of each tool's config.json, of a script that needs others' code, and of what is
    short enough to be compared.
    """

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self._left = _MAX_COMPARED

    def texts(self) -> dict[str, str]:
        """Return what was kept and is text, by its path."""
        found: dict[str, str] = {}
        for path, data in self.kept.items():
            with contextlib.suppress(UnicodeDecodeError):
                found |= {} if b"\0" in data else {path: data.decode("utf-8")}
        return found

    def read(self, path: str) -> bytes:
        """Return the bytes of a file (`UID/NAME`) as they were hashed; none where there was nothing
        to show, or too much.
        """
        return self.kept.get(path, b"")

    def visit(self, path: str, descriptor: int, status: os.stat_result) -> str:
        if status.st_size > defaults.MAX_FILE_BYTES:
            return walk.hash_file(path, descriptor, status)
        data = b"".join(walk.chunks(descriptor, status))
        self._left -= len(data)
        if (
            self._left > 0
            or path.endswith(f"/{defaults.CONFIG_FILE}")
            or _SCRIPT_BLOCK.encode() in data
        ):
            self.kept[path] = data
        digest = TextDigest(
            exact=keeps_line_ends(path, executable=bool(status.st_mode & stat.S_IXUSR))
        )
        digest.update(data)
        return digest.hexdigest()


def review_tool(
    directory: str,
    files: tuple[str, ...],
    read: Callable[[str], bytes],
    *,
    project: str | None = None,
) -> ToolReview:
    """Gather what an approval of one tool directory would allow: `files` are its paths, `read`
    returns the bytes of `UID/NAME`, none for what is not there or too long to be read. `project` is
    where the paths that it states are looked at.
    """
    uid = os.path.basename(directory)
    config = read(f"{uid}/{defaults.CONFIG_FILE}")
    found, problems = tool_directory.check(directory, config=config or None)
    document = (found if config else None) or {}
    implementation = _object(document.get("implementation_details"))
    is_script = (
        (kind := type_in(implementation)) is not None
        and kind.is_python
        and implementation.get("path") in files
    )
    script = read(f"{uid}/{implementation['path']}") if is_script else b""
    return ToolReview(
        uid=uid,
        directory=directory,
        name=_text(document.get("name")),
        type=_text(implementation.get("type")),
        implementation=implementation,
        runs=_runs(implementation),
        needs=_needs(script),
        unpinned=()
        if f"{implementation.get('path')}{script_lock.SUFFIX}" in files
        else _unpinned(script),
        outside=_outside(read(f"{uid}/{in_place.CALL}"))
        if implementation.get("path") == "start" and in_place.CALL in files
        else "",
        links=_links(document, project),
        secrets=secret_items.names_in(document.get("secrets")),
        hosts=_hosts(document, implementation),
        files=files,
        problems=tuple(str(problem) for problem in problems),
        config=config.decode("utf-8", "replace"),
        document=document,
    )


def _outside(call: bytes) -> str:
    """Return the module of the project whose function a `call.py` runs; "" where it runs none."""
    found = in_place.standing_in(call.decode("utf-8", "replace"))
    return found.module if found is not None else ""


def _links(document: JsonObject, project: str | None) -> tuple[str, ...]:
    stated = permissions_of(_object(document.get("permissions")))
    leads = find_leads(project, stated) if project is not None else ()
    return tuple(f"{place.stated} -> {place.leads}" for place in leads)


def _needs(source: bytes) -> tuple[str, ...]:
    """Return the lines that follow each `# /// script`, as the one who reads the block splits
    them.
    """
    found: list[str] = []
    inside = False
    for line in (
        source.decode("utf-8", "replace").splitlines() if _SCRIPT_BLOCK.encode() in source else ()
    ):
        opens = line.rstrip() == _SCRIPT_BLOCK
        inside = (inside or opens) and line.startswith("#") and line.rstrip() != "# ///"
        found += [line.removeprefix("#").strip()] if inside and not opens else []
    return tuple(found)


def _unpinned(source: bytes) -> tuple[str, ...]:
    """Return the packages of a script that can be other code tomorrow; a block that cannot be read
    has problems of its own.
    """
    try:
        return tuple(script_lock.find_unpinned(read_metadata(source).dependencies))
    except InvalidDocument:
        return ()


def _runs(implementation: JsonObject) -> tuple[str, ...]:
    kind = type_in(implementation)
    words = (
        [implementation.get("path"), implementation.get("entrypoint")]
        if kind is None
        else kind.runs(implementation)
    )
    return tuple(
        word if isinstance(word, str) else strict_json.compact_json(word)
        for word in words
        if word is not None
    )


def _hosts(document: JsonObject, implementation: JsonObject) -> tuple[str, ...]:
    found = {host for _, host in stated_hosts(document) if isinstance(host, str)}
    kind = type_in(implementation)
    _, address = (kind and kind.address(implementation)) or ("", "")
    url = _HOST.match(address)
    return tuple(sorted(found | ({url[1]} if url else set())))


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
