"""A script's lock (`SCRIPT.py.lock`, in uv's format): the distributions of its environment, and the
hashes of their files.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from vespe.documents import toml
from vespe.errors import InvalidDocument
from vespe.lazy import urls
from vespe.records import dataclass
from vespe.tools.python.script_metadata import Asked, Metadata, asked, holds, normal, same_versions

SUFFIX: Final = ".lock"
MAX_BYTES: Final = 8 << 20
_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A lock as it was read: its bytes, its place, and what its script asks for. Nobody reads it
    who does not install.
    """

    data: bytes
    metadata: Metadata
    path: str

    def lines(self) -> tuple[str, ...]:
        """Return the requirements; raises as `read_requirements` does."""
        return read_requirements(self.data, self.metadata, path=self.path)


def read_requirements(data: bytes, metadata: Metadata, *, path: str) -> tuple[str, ...]:
    """Return the requirements that a lock means for this machine, sorted, each with its hashes, as
    pip and uv take them.

    `path` is the lock's. Raises InvalidDocument where it is no lock, is one of another state of the
    script's block, or names what no hash can be had of (git, a directory).
    """
    document = toml.read_toml(data.decode("utf-8", "replace"), path=path)
    try:
        if document.get("version") != _VERSION:
            said = f"its `version` is {document.get('version')!r}, not {_VERSION}"
            raise InvalidDocument(f"is not a lock that this version can read: {said}", path=path)
        return _locked(document, metadata, path)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        if isinstance(error, InvalidDocument):
            raise
        raise InvalidDocument(
            f"is not a lock as uv writes it ({type(error).__name__}: {error})", path=path
        ) from None


def _locked(document: Mapping[str, Any], metadata: Metadata, path: str) -> tuple[str, ...]:
    roots = document.get("manifest", {}).get("requirements", [])
    _check_asked(roots, document.get("requires-python", ""), metadata, path)
    packages: dict[str, list[Mapping[str, Any]]] = {}
    for package in document.get("package", []):
        packages.setdefault(normal(package["name"]), []).append(package)
    chosen: dict[tuple[str, tuple[str, ...]], Mapping[str, Any]] = {}
    queue = [
        (item, tuple(item.get("extras", ()))) for item in roots if holds(item.get("marker", ""))
    ]
    while queue:
        item, extras = queue.pop()
        key = (normal(item["name"]), extras)
        if key in chosen:
            continue
        chosen[key] = package = _chosen(packages.get(key[0], []), item, path)
        more = package.get("optional-dependencies", {})
        needed = [
            *package.get("dependencies", []),
            *(one for extra in extras for one in more.get(extra, [])),
        ]
        queue += [
            (one, tuple(one.get("extra", one.get("extras", ()))))
            for one in needed
            if holds(one.get("marker", ""))
        ]
    return tuple(sorted({_line(package, path) for package in chosen.values()}))


def _check_asked(
    roots: Iterable[Mapping[str, Any]], python: str, metadata: Metadata, path: str
) -> None:
    """Compare what was locked with what the script asks for now; markers are left out, since uv
    writes them in a form of its own.
    """
    now = {replace(one, url=_same_file(one.url)).text for one in metadata.asked()}
    then = {_asked(item).text for item in roots}
    differs = sorted(now ^ then)
    if metadata.requires_python and not same_versions(metadata.requires_python, python):
        differs.append(f"requires-python {metadata.requires_python}")
    if differs:
        why = f"locks something else than its script asks for: {', '.join(differs)}"
        raise InvalidDocument(why, path=path, hint="`vespe tool lock` makes it anew")


def _asked(item: Mapping[str, Any]) -> Asked:
    extras = f"[{','.join(item['extras'])}]" if item.get("extras") else ""
    return asked(
        f"{item['name']}{extras} "
        + (f"@ {_address(item)}" if _address(item) else item.get("specifier", ""))
    )


def _address(said: Mapping[str, Any]) -> str:
    """Return where a distribution is that is no index's; uv names a file of this machine by its
    path.
    """
    return _same_file(str(said.get("url", ""))) or (
        f"file://{urls.quote(said['path'])}" if "path" in said else ""
    )


def _same_file(address: str) -> str:
    """Return the address of a file in the one form that all its spellings have; any other as it
    is.
    """
    if not address.startswith("file:"):
        return address
    return f"file://{urls.quote(urls.unquote(urls.urlsplit(address).path))}"


def _chosen(
    packages: list[Mapping[str, Any]], item: Mapping[str, Any], path: str
) -> Mapping[str, Any]:
    """Return the package that is meant: of several versions the one that is named, else the one
    whose markers hold here.
    """
    named = [
        one for one in packages if item.get("version", one.get("version")) == one.get("version")
    ]
    fit = [
        one
        for one in named
        if not one.get("resolution-markers") or any(map(holds, one["resolution-markers"]))
    ]
    if not fit:
        raise InvalidDocument(
            f"is not whole: it names {item['name']}, and has no such package for this machine",
            path=path,
        )
    return fit[0]


def _line(package: Mapping[str, Any], path: str) -> str:
    source = package.get("source", {})
    address = _address(source)
    name = (
        f"{package['name']} @ {address}"
        if address
        else f"{package['name']}=={package.get('version')}"
    )
    files = [*([package["sdist"]] if "sdist" in package else []), *package.get("wheels", [])]
    hashes = sorted({one["hash"] for one in files if "hash" in one})
    if not hashes or not (address or "registry" in source):
        raise InvalidDocument(
            f"locks {package['name']} without a hash of its files, so nothing could be checked",
            path=path,
        )
    return " ".join([name, *(f"--hash={one}" for one in hashes)])


def find_unpinned(dependencies: Iterable[str]) -> Iterator[str]:
    """Yield the requirements that can mean other code tomorrow: those without an exact version, or
    a hash in their address.
    """
    for dependency in dependencies:
        try:
            if not asked(dependency).is_pinned:
                yield dependency
        except ValueError:  # it is no requirement
            yield dependency


def installed_needs(requires: Iterable[str], extras: Iterable[str]) -> Iterator[Asked]:
    """Yield what a distribution's `Requires-Dist` asks for on this machine, with these extras of
    it.
    """
    for text in requires:
        one = asked(text)
        if any(holds(one.marker, extra=extra) for extra in (*extras, "")):
            yield Asked(name=one.name, extras=one.extras)
