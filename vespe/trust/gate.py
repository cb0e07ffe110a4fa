"""Whether a project may run anything: the user's approval of its bytes where they are or of its
place, and the bytes to run from.
"""

import contextlib
import errno
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import NotTrusted, ProjectNotFound, Refused, StorageError, UsageError
from vespe.files import digests, identity, ownership, stamps, walk
from vespe.files.digests import File, Tree
from vespe.files.identity import Place
from vespe.files.private_copy import private_copy
from vespe.models import Entry, ProjectConfig
from vespe.records import dataclass
from vespe.trust import approvals
from vespe.trust.approvals import Approval

TOOLS = (defaults.PROJECT_DIR, defaults.TOOLS_DIR)
PREFIX = f"{defaults.TOOLS_DIR}/"
VIEW = "models see "
"""With what an entry of `scopes_of` begins that is about how a tool is shown, and is not a
place.
"""
_ADDED = ("as", "preset", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Why the project at `root` may run: `kind` is `flag`, `environment`, `place`, `tool` or
    `content`.

    `files` are the approved files of a content approval by their path beneath `.vespe/tools`, else
    None: whatever is there. `secrets` names what its tools may see by a content approval; None
    means what they declare.
    """

    kind: str
    root: str
    files: Mapping[str, File] | None = None
    secrets: tuple[str, ...] | None = None

    def allows_secret(self, name: str) -> bool:
        """Say whether a tool of the project that declares the secret `name` may see it."""
        return self.secrets is None or name in self.secrets


class TrustCheck:
    """The check of one project for a process that lives: every call checks, but only what changed
    is read again.

    A file counts as unchanged while its inode, size, times and mode are; what then runs is still
    verified byte by byte by `locate`. `config` is the project's configuration as it is used: set it
    anew where it was read anew.
    """

    def __init__(
        self, config: ProjectConfig, *, environ: Mapping[str, str], trusted: bool = False
    ) -> None:
        self.config = config
        self.root = os.path.realpath(config.root)
        self._environ = environ
        self._trusted = trusted
        self._known: dict[str, tuple[stamps.Stamp, str]] = {}

    def check(self, tool_directory: str | None = None) -> Grant:
        """Return the grant under which the project's tool in `tool_directory` may run now; None
        asks for the project as a whole.

        A kit's tool asks for the whole. Raises NotTrusted, with what changed since the last
        approval, and UsageError for a `VESPE_TRUSTED_PATHS` that is not made of absolute paths.
        """
        if self._trusted:
            return Grant(kind="flag", root=self.root)
        if _listed(self.root, self._environ.get(defaults.ENV_TRUSTED_PATHS, "")):
            return Grant(kind="environment", root=self.root)
        kind = approved_place(self.root, tool_directory)
        if kind is None:
            return self._content()
        others = _written_by_others(
            os.path.join(self.root, defaults.PROJECT_DIR),
            os.path.join(self.root, *TOOLS),
            tool_directory,
        )
        if others is None:
            return Grant(kind=kind, root=self.root)
        try:
            return self._content()
        except NotTrusted:
            raise others from None

    def _content(self) -> Grant:
        if not approvals.any_content():
            raise NotTrusted(self.root, changes=_outdated(self.root))
        tree = walk.scan(self.root, *TOOLS, visit=self._visit)
        approval = approval_of(self.config, tree)
        if approval is None:
            former = former_approval(self.config, tree)
            raise NotTrusted(self.root, changes=former.changes, same_at=former.same_at)
        return Grant(kind="content", root=self.root, files=tree.files, secrets=approval.secrets)

    def _visit(self, path: str, descriptor: int, status: os.stat_result) -> str:
        seen = stamps.stamp_of(status)
        known = self._known.get(path)
        if known and known[0] == seen:
            return known[1]
        sha256 = walk.hash_file(path, descriptor, status)
        if stamps.are_settled([seen]):
            self._known[path] = (seen, sha256)
        return sha256


def _written_by_others(*directories: str | None) -> Refused | None:
    """Say why a place that was trusted whatever becomes of it is not its user's alone to change;
    None where it is.
    """
    for directory in filter(None, directories):
        if why := ownership.foreign_writer(directory):
            hint = (
                f"chmod go-w {directory}, where it is yours; or approve what is there now: "
                "`vespe trust`"
            )
            return Refused(
                f"nothing runs here: {directory} {why}, and was trusted even if it changes",
                hint=hint,
            )
    return None


def check(
    config: ProjectConfig,
    tool_directory: str | None = None,
    *,
    environ: Mapping[str, str],
    trusted: bool = False,
) -> Grant:
    """Check once: see `TrustCheck.check`. `trusted` is the user's explicit `--trust`."""
    return TrustCheck(config, environ=environ, trusted=trusted).check(tool_directory)


def may_run(config: ProjectConfig, *, environ: Mapping[str, str]) -> Callable[[Entry], bool]:
    """Return a function that says whether a tool may run: by the project's trust, or by the tool
    directory's own.
    """

    def is_trusted(entry: Entry) -> bool:
        own = entry.path if entry.scope == defaults.PROJECT_TOOLS else None
        try:
            check(config, tool_directory=own, environ=environ)
        except NotTrusted:
            return False
        return True

    return is_trusted


def scopes_of(config: ProjectConfig) -> tuple[str, ...]:
    """Return where a configuration looks for names, in order, and the active kits that it has
    beside: what is approved with the bytes.

    Behind them stands what it says of tools to models: their names, descriptions and presets.

    Whether a kit is on this machine is not asked: one that comes later was chosen already.
    """
    named = [
        config.active_kits if name == defaults.ACTIVE_KITS else (name,)
        for name in config.tool_resolution_order
    ]
    known = {defaults.PROJECT_TOOLS, *config.active_kits}
    ordered = dict.fromkeys(name for names in named for name in names if name in known)
    beside = (
        f"{kit} (by kit/name alone)"
        for kit in dict.fromkeys(config.active_kits)
        if kit not in ordered
    )
    return (*ordered, *beside, *_shown_otherwise(config))


def _shown_otherwise(config: ProjectConfig) -> Iterator[str]:
    """Yield what a project's `tools` add to what models are told and calls are given; what they
    take away needs nobody's word.
    """
    said = config.document.get("tools")
    for pattern, given in sorted(said.items()) if isinstance(said, dict) else ():
        added = (
            {key: given[key] for key in _ADDED if key in given} if isinstance(given, dict) else {}
        )
        if added:
            yield f"{VIEW}{pattern} as {strict_json.compact_json(added)}"


def approval_of(config: ProjectConfig, tree: Tree) -> Approval | None:
    """Return the approval of these bytes, where they are, with no other scopes than those that were
    shown; or None.
    """
    place = identity.place_of(os.path.realpath(config.root))
    approval = approvals.find_content(tree.digest, place) if tree.digest and place else None
    return approval if approval and _keeps_to(approval.scopes, scopes_of(config)) else None


@contextlib.contextmanager
def carrying_over(before: ProjectConfig, after: ProjectConfig) -> Iterator[None]:
    """Let the approval that holds for a project hold with another configuration too, which is
    written within: for a change that its user asked for.

    It holds with both until that is written: whatever fails or is killed meanwhile, it holds with
    the one that is there.
    """
    root = os.path.realpath(before.root)
    if approved_place(root) or not approvals.any_content():
        yield
        return
    tree = walk.scan(root, *TOOLS)
    # Bytes that a broken disk does not give now may be the approved ones.
    for path in (path for path, why in tree.odd.items() if why == walk.BROKEN):
        failed = OSError(errno.EIO, os.strerror(errno.EIO))
        raise StorageError("read", os.path.normpath(os.path.join(root, *TOOLS, path)), failed)
    approval, place = approval_of(before, tree), identity.place_of(root)
    if not (approval and place):
        yield
        return
    now, then = scopes_of(before), scopes_of(after)
    for_both = then if _keeps_to(then, now) else (*then, *now)
    approvals.store_content(place, tree, secrets=approval.secrets, scopes=for_both)
    yield
    if for_both != then:
        with contextlib.suppress(StorageError):  # what was there before stays approved, too
            approvals.store_content(place, tree, secrets=approval.secrets, scopes=then)


@contextlib.contextmanager
def carrying_over_files(
    config: ProjectConfig,
) -> Iterator[Callable[[Mapping[str, bytes], Collection[str]], None]]:
    """Let the approval that holds for a project hold with another content of some files of its
    tools, for a change that its user asked for: the function that this gives is told the bytes,
    which are written within, by their paths beneath `.vespe/tools`, and the secrets that the tool
    declares now.

    Nothing else that changed meanwhile is approved with it.
    """
    root = os.path.realpath(config.root)
    told: list[tuple[Mapping[str, bytes], Collection[str]]] = []
    is_asked = approved_place(root) is None and approvals.any_content()
    before = walk.scan(root, *TOOLS) if is_asked else None
    approval, place = approval_of(config, before) if before else None, identity.place_of(root)
    yield lambda files, secrets: told.append((files, secrets))
    if not (place and before and approval and told):
        return
    files, secrets = told[-1]
    expected = {
        path: _with_content(path, file, files[path]) if path in files else file
        for path, file in before.files.items()
    }
    after = walk.scan(root, *TOOLS)
    if after == Tree(files=expected):
        texts = {path: data.decode("utf-8", "replace") for path, data in files.items()}
        approvals.store_content(
            place,
            after,
            secrets=tuple(sorted({*approval.secrets, *secrets})),
            scopes=approval.scopes,
            texts={**approvals.texts_of(approval), **texts},
        )


def _with_content(path: str, file: File, data: bytes) -> File:
    digest = digests.TextDigest(exact=digests.keeps_line_ends(path, executable=file.executable))
    digest.update(data)
    return replace(file, sha256=digest.hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """What a project that is not approved is compared with: the last `approval` of it, or of one
    like it, and what differs.

    `same_at` is the path of another project, in which exactly the same was approved.
    """

    approval: Approval | None = None
    changes: tuple[str, ...] = ()
    same_at: str | None = None


def former_approval(config: ProjectConfig, tree: Tree) -> Former:
    """Compare a project with the approval given last for its place, or with the one most alike
    elsewhere.

    A project without tools of its own is like no other.
    """
    root, scopes = os.path.realpath(config.root), scopes_of(config)
    place = identity.place_of(root) or Place(path=root, inode=0, device=0)
    approval = approvals.nearest_content(place, tree)
    if approval is None or approval.version < approvals.VERSION:
        return Former(changes=_outdated(root))
    changed = digests.changes(approval.files or {}, tree, prefix=PREFIX)
    added = [name for name in scopes if name not in approval.scopes]
    changed += tuple(
        f"{name} now"
        if name.startswith(VIEW)
        else f"{name} is in tool_resolution_order now"
        if name == defaults.PROJECT_TOOLS
        else f"the kit {name} is active now"
        for name in added
    )
    if not added and not _keeps_to(approval.scopes, scopes):
        changed += (f"names are looked for in another order: {', '.join(scopes)}",)
    return Former(approval=approval, changes=changed, same_at=None if changed else approval.path)


def _keeps_to(approved: tuple[str, ...], scopes: tuple[str, ...]) -> bool:
    """Say whether the scopes are among the approved ones, in their order."""
    rest = iter(approved)
    return all(name in rest for name in scopes)


def _outdated(root: str) -> tuple[str, ...]:
    said = (
        "an approval is of bytes where they are and of the active kits now; "
        "an earlier version asked for less"
    )
    return (said,) if approvals.is_outdated(root) else ()


def trust_place(root: str | os.PathLike[str], *, staged: str = defaults.PROJECT_DIR) -> Grant:
    """Trust this very `.vespe/` whatever becomes of it: `vespe init` of a new one, and
    `vespe trust --develop`.

    `staged` is its path in `root` before it is renamed to `.vespe`, so that it is trusted at the
    instant when it is there.
    """
    real = os.path.realpath(root)
    _store("place", real, as_path=(defaults.PROJECT_DIR,), now=tuple(staged.split(os.sep)))
    return Grant(kind="place", root=real)


def forget_staged(root: str | os.PathLike[str], staged: str) -> None:
    """Take back what `trust_place` gave to a directory that did not come to its place."""
    place = identity.place_of(os.path.realpath(root), *staged.split(os.sep))
    if place is not None:
        approvals.forget_place("place", place)


def trust_created(root: str | os.PathLike[str], uid: str, *, staged: str | None = None) -> None:
    """Trust a tool directory that its user makes, where the project as a place is not trusted
    anyway; see `trust_tool`.
    """
    if approved_place(os.path.realpath(root)) is None:
        trust_tool(root, uid, staged=staged)


def trust_tool(root: str | os.PathLike[str], uid: str, *, staged: str | None = None) -> Grant:
    """Trust this very tool directory, which `vespe tool create` makes, and nothing else of its
    project.

    `staged` is its path beneath `.vespe/tools` before it is renamed to its uid.
    """
    real = os.path.realpath(root)
    _store("tool", real, as_path=(*TOOLS, uid), now=(*TOOLS, *(staged or uid).split(os.sep)))
    return Grant(kind="tool", root=real)


def untrust(root: str | os.PathLike[str]) -> tuple[Approval, ...]:
    """Take back every approval that applies to the project: of its bytes, of its place, of single
    tools; return them.

    Raises StorageError where its tools cannot be listed: then nobody knows which approvals apply.
    """
    real = os.path.realpath(root)
    names: list[tuple[str, ...]] = [(), (defaults.PROJECT_DIR,)]
    try:
        names += [(*TOOLS, uid) for uid in os.listdir(os.path.join(real, *TOOLS))]
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise StorageError("read", os.path.join(real, *TOOLS), error) from error
    return approvals.forget(
        real, [place for place in (identity.place_of(real, *name) for name in names) if place]
    )


def approved_place(root: str, tool_directory: str | None = None) -> str | None:
    """Say `place` or `tool` where the user has trusted the project's directory, or this tool's
    directory in it.
    """
    place = identity.place_of(root, defaults.PROJECT_DIR)
    if place and approvals.find_place("place", place):
        return "place"
    parent, uid = os.path.split((tool_directory or "").rstrip("/"))
    if not uid or os.path.realpath(parent) != os.path.join(root, *TOOLS):
        return None
    tool = identity.place_of(root, *TOOLS, uid)
    return "tool" if tool and approvals.find_place("tool", tool) else None


@contextlib.contextmanager
def locate(tool_directory: str, grant: Grant) -> Iterator[str]:
    """Return the directory to load the tool from and run it in: what is checked is what runs.

    Under a content approval that is a private copy whose every byte is verified while it is copied,
    removed afterwards; its name is the uid still. Else, and for a kit's tool, it is the tool's own
    directory. Raises NotTrusted, which names the file, and StorageError.
    """
    parent, uid = os.path.split(tool_directory.rstrip("/"))
    if grant.files is None or os.path.realpath(parent) != os.path.join(grant.root, *TOOLS):
        yield tool_directory
        return
    approved = {
        path.removeprefix(f"{uid}/"): file
        for path, file in grant.files.items()
        if path.startswith(f"{uid}/")
    }
    with private_copy(grant.root, *TOOLS, uid) as (copy, tree):
        if changed := digests.changes(approved, tree, prefix=f"{PREFIX}{uid}/"):
            raise NotTrusted(grant.root, changes=changed)
        yield copy


def _store(kind: str, root: str, *, as_path: tuple[str, ...], now: tuple[str, ...]) -> None:
    """Keep the approval of the directory that is at `now` as that of `as_path`: its identity
    survives the rename.
    """
    place = identity.place_of(root, *now)
    if place is None:
        raise ProjectNotFound(root if kind == "place" else os.path.join(root, *as_path))
    approvals.store_place(kind, replace(place, path=os.path.join(root, *as_path)))


def _listed(root: str, paths: str) -> bool:
    for path in filter(None, paths.split(os.pathsep)):
        if not os.path.isabs(path):
            raise UsageError(
                f"{defaults.ENV_TRUSTED_PATHS} names {path!r}: only absolute paths can be trusted"
            )
        if f"{root}/".startswith(os.path.join(os.path.realpath(path), "")):
            return True
    return False
