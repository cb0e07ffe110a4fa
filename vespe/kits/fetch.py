"""From a source to its kits: resolve the ref, fetch the commit, find the kits in it; nothing is
written but what was fetched.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from vespe import defaults
from vespe.documents import strict_json
from vespe.documents.near import join_words, suggest
from vespe.errors import InvalidDocument, NotFound, Refused
from vespe.git import objects, refs
from vespe.git.refs import RemoteRef
from vespe.git.session import Session
from vespe.kits import names, roots, signatures
from vespe.kits.entry_rules import KitTree
from vespe.kits.origins import CommitOrigin, FolderOrigin, Origin
from vespe.kits.sources import KitSource
from vespe.records import dataclass

Progress = Callable[[str], None]
_MOST_LOOKED_INTO = 50
_REPOSITORY = ("HEAD", "objects", "refs")
MAX_ENTRIES = 50_000
"""Of all kits that are taken from one place at once: in git a thousand may share their files, and
cost next to nothing to send.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The kits of one source at one commit; `ref` and `session` (the repository that holds it) are
    None where it is in no git.

    `signer` is who signed the tag, where the user's configuration names whose signatures count.
    """

    source: KitSource
    kits: tuple[KitTree, ...]
    ref: RemoteRef | None = None
    session: Session | None = None
    signer: str | None = None

    @property
    def commit(self) -> str | None:
        """The whole commit id, or None."""
        return None if self.ref is None else self.ref.commit


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """What is wanted of a source: relative paths begin at `base`; `kit_ids` () are all; `commit`
    stands for what the ref means.

    `places` are the subdirectories of kits that are known already, by id; then nothing is looked
    for. `allowed_signers` is the path of the user's file of them, None for no check of signatures.
    """

    source: KitSource
    base: str
    subdirectory: str = ""
    kit_ids: tuple[str, ...] = ()
    commit: str | None = None
    allowed_signers: str | None = None
    places: Mapping[str, str] = field(default_factory=dict)


def fetch(request: FetchRequest, directory: str, *, progress: Progress | None = None) -> Fetched:
    """Get the kits of a source, by way of a bare repository in `directory` where it is one.

    Raises NotFound (no such place, ref, commit, directory or kit), Refused, InvalidDocument (a
    kit_config.json), SourceUnavailable, TimedOut.
    """
    if reason := request.subdirectory and names.unsafe(request.subdirectory):
        raise Refused(
            f"the subdirectory {request.subdirectory!a} {reason}",
            hint="name a directory in the source, with /",
        )
    if request.source.kind == "archive":
        return Fetched(source=request.source, kits=(_from_archive(request),))
    session = open_session(request.source, request.base, directory=directory, progress=progress)
    if session is None:
        return Fetched(source=request.source, kits=_from_folder(request))
    url = _url(request.source, request.base)
    found = _fetched(session, url, request.commit or request.source.ref)
    commit = found.commit

    def origin(subdirectory: str) -> Origin:
        return CommitOrigin(session=session, commit=commit, subdirectory=subdirectory)

    signer = signatures.signer_of(session, found, request.allowed_signers)
    return Fetched(
        source=request.source,
        kits=_chosen(request, origin, session.what),
        ref=found,
        session=session,
        signer=signer,
    )


def _fetched(session: Session, url: str, ref: str | None) -> RemoteRef:
    """Fetch what a ref means; of a repository on this machine its default branch is had in one
    start of git.
    """
    if ref is None and session.kind == "path" and (commit := objects.fetch_default(session, url)):
        return RemoteRef(name="HEAD", object=commit, commit=commit)
    found = refs.resolve(session, url, ref)
    return replace(found, commit=objects.fetch(session, url, found.object))


def remote_ref(source: KitSource, base: str, *, directory: str) -> RemoteRef | None:
    """Say what a source's ref means now, without fetching it; None for a folder. Raises as `fetch`
    does.
    """
    session = open_session(source, base, directory=directory)
    return None if session is None else refs.resolve(session, _url(source, base), source.ref)


def open_session(
    source: KitSource, base: str, *, directory: str, progress: Progress | None = None
) -> Session | None:
    """Return what is needed to ask git about a source; None for what is in no git. Raises NotFound
    where a path leads nowhere.
    """
    if not source.remote and not _is_repository(path := source.path(base)):
        if not os.path.lexists(path):
            raise NotFound(
                f"there is no {path}",
                hint="a source is a URL, gh:owner/repo, or a path that begins with / or .",
            )
        return None
    return Session(
        directory=os.path.join(directory, "repository.git"),
        what=source.text,
        kind=source.kind,
        progress=progress,
    )


def _from_folder(request: FetchRequest) -> tuple[KitTree, ...]:
    path = request.source.path(request.base)
    if request.source.ref is not None:
        raise NotFound(
            f"{path} is not a git repository, so it has no ref {request.source.ref!r}",
            hint="leave out @REF",
        )
    return _chosen(
        request, lambda subdirectory: FolderOrigin(path=path, subdirectory=subdirectory), path
    )


def _chosen(
    request: FetchRequest, origin: Callable[[str], Origin], what: str
) -> tuple[KitTree, ...]:
    if not request.places:
        try:
            return _kits(origin(request.subdirectory), request.kit_ids, what)
        except NotFound as error:
            if below := _kits_below(origin, request.subdirectory):
                error.hint = f"it has kits one level down: {'; '.join(below)}"
            raise
    return tuple(
        tree
        for place in request.places.items()
        for tree in _kits(origin(place[1]), (place[0],), what)
    )


def _kits_below(origin: Callable[[str], Origin], subdirectory: str) -> list[str]:
    """Say for each directory that holds kits which option names it, and which kits those are."""
    found = []
    for name in origin(subdirectory).directories()[:_MOST_LOOKED_INTO]:
        place = "/".join(filter(None, (subdirectory, name)))
        here = origin(place)
        if kits := here.with_config(here.directories()):
            found.append(f"--subdir {place} ({', '.join(sorted(kits))})")
    return found


def _from_archive(request: FetchRequest) -> KitTree:
    from vespe.kits import archives

    path = request.source.path(request.base)
    if not os.path.lexists(path):
        raise NotFound(f"there is no {path}", hint="`vespe kit pack` makes such a file")
    if request.source.ref is not None or request.subdirectory:
        raise Refused(f"{path} contains one version of one kit", hint="leave out @REF and --subdir")
    tree = archives.archive_tree(path)
    config = [entry for entry in tree.entries if entry.path == defaults.KIT_CONFIG_FILE]
    _checked_id(
        next(data for _, data in tree.read(config)),
        "",
        os.path.join(path, defaults.KIT_CONFIG_FILE),
    )
    wanted = (*request.kit_ids, *request.places)
    if wanted and tree.kit_id not in wanted:
        raise NotFound(f"{path} has no kit {wanted[0]!r}", hint=f"it has {tree.kit_id}")
    return tree


def _url(source: KitSource, base: str) -> str:
    return source.text if source.remote else source.path(base)


def _is_repository(path: str) -> bool:
    return os.path.lexists(os.path.join(path, ".git")) or all(
        os.path.lexists(os.path.join(path, name)) for name in _REPOSITORY
    )


def _kits(origin: Origin, wanted: Sequence[str], what: str) -> tuple[KitTree, ...]:
    """Find the kits of a place: itself, or its direct subdirectories; all of them, or those that
    are wanted.
    """
    directories = origin.directories()
    if origin.with_config([""]):
        kit_id = _kit_id(origin, "", what)
        found = {kit_id: ""}
    else:
        found = {name: name for name in origin.with_config(directories)}
    if not found:
        raise NotFound(
            f"{what} contains no kit: neither it nor any directory in it has a "
            f"{defaults.KIT_CONFIG_FILE}",
            hint="name the kit's directory in the source with --subdir DIR",
        )
    if missing := [kit_id for kit_id in wanted if kit_id not in found]:
        raise NotFound(
            f"{what} has no kit {missing[0]!r}",
            hint=suggest(missing[0], found)
            or f"it has {join_words(sorted(found), see='without --kit all are shown')}",
        )
    chosen = {kit_id: found[kit_id] for kit_id in wanted or sorted(found)}
    for name in filter(None, chosen.values()):
        _kit_id(origin, name, what)
    return tuple(_bounded((origin.tree(name, kit_id) for kit_id, name in chosen.items()), what))


def _bounded(trees: Iterable[KitTree], what: str) -> Iterator[KitTree]:
    left = MAX_ENTRIES
    for tree in trees:
        left -= len(tree.entries)
        if left < 0:
            raise Refused(
                f"the kits of {what} have more than {MAX_ENTRIES} files in total",
                hint="select the ones that you want with --kit ID",
            )
        yield tree


def _kit_id(origin: Origin, name: str, what: str) -> str:
    """Read the id of the kit in a directory; raises InvalidDocument where its kit_config.json is
    wrong, or names another id.
    """
    return _checked_id(
        origin.config(name),
        name,
        "/".join(part for part in (what, name, defaults.KIT_CONFIG_FILE) if part),
    )


def _checked_id(config: bytes, name: str, place: str) -> str:
    """Return the id that a kit_config.json states, wherever it comes from: what is no id never
    becomes a path.
    """
    document = strict_json.parse_object(config, path=place)
    kit_id = document.get("kit_id")
    if not isinstance(kit_id, str) or not roots.KIT_ID.fullmatch(kit_id):
        raise InvalidDocument(
            "must name a kit_id of lower-case letters, digits and _", path=place, pointer="/kit_id"
        )
    if problem := roots.config_problem(document, name or kit_id):
        raise InvalidDocument(problem.reason, path=place, pointer=problem.pointer)
    return kit_id
