"""The documents of one description, and what its references lead to: files beneath its own
directory, and addresses only where asked.
"""

import os
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from vespe.documents import pointers
from vespe.documents.foreign import parse_foreign
from vespe.documents.strict_json import repair_surrogates
from vespe.errors import InvalidDocument, UsageError, VespeError
from vespe.features.imports.made import Fetch
from vespe.files import atomic
from vespe.lazy import urls

MAX_BYTES: Final = 48 * 1024 * 1024
"""Of all documents together."""
MAX_DOCUMENTS: Final = 3000
_MAX_CHAIN: Final = 32
_REMOTE: Final = re.compile(r"https?://", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class At(NamedTuple):
    """A value and the address of the document that it stands in, which its references are relative
    to.
    """

    value: Any
    base: str

    def get(self, key: str) -> "At":
        """Return the member `key`; None stands for what is not there."""
        return At(self.value.get(key) if isinstance(self.value, dict) else None, self.base)

    def items(self) -> Iterator[tuple[str, "At"]]:
        """Return the members of an object, or the items of a list by their numbers; of anything
        else none.
        """
        if isinstance(self.value, dict):
            yield from ((key, At(item, self.base)) for key, item in self.value.items())
        elif isinstance(self.value, list):
            yield from ((str(index), At(item, self.base)) for index, item in enumerate(self.value))

    def text(self, key: str) -> str:
        """Return the string under `key`, else an empty one."""
        found = self.value.get(key) if isinstance(self.value, dict) else None
        return found if isinstance(found, str) else ""


class Unresolved(VespeError):
    """A reference that leads nowhere, or where nobody asked to go."""


class Documents:
    """Reads each document once. A file's references stay beneath the directory of the first; an
    address needs `fetch`.
    """

    def __init__(self, source: str, *, fetch: Fetch | None = None, follow: bool = False) -> None:
        """Read the description at `source`, a path or an address; `follow` says that references may
        lead to addresses too.

        Raises UsageError, InvalidDocument, StorageError, and what `fetch` raises.
        """
        self._fetch, self._follow = fetch, follow
        self._documents: dict[str, Any] = {}
        self._resources: dict[str, At] | None = None
        self._left = MAX_BYTES
        self.base = source if _REMOTE.match(source) else os.path.realpath(source)
        self._directory = "" if _REMOTE.match(source) else os.path.dirname(self.base)
        self.root = At(self._read(self.base, self.base), self.base)

    def resolve(self, reference: str, base: str) -> At:
        """Return what a reference in the document `base` names; raises Unresolved."""
        address, _, fragment = reference.partition("#")
        target = self._address(address, base) if address else base
        if target not in self._documents and (known := self._resource(address, target)) is not None:
            return self._within(known, fragment, reference)
        if target not in self._documents:
            self._check(target, reference)
            try:
                self._read(target, base)
            except VespeError as error:
                raise Unresolved(f"{reference} cannot be read: {error}") from None
        return self._within(At(self._documents[target], target), fragment, reference)

    def follow(self, at: At) -> At:
        """Return what `at` stands for where it is a reference, through others; raises Unresolved,
        for a circle too.
        """
        for _ in range(_MAX_CHAIN):
            reference = at.value.get("$ref") if isinstance(at.value, dict) else None
            if not isinstance(reference, str):
                return at
            at = self.resolve(reference, at.base)
        raise Unresolved(
            f"{reference} refers back to itself, or through more than {_MAX_CHAIN} other references"
        )

    def _address(self, address: str, base: str) -> str:
        if _REMOTE.match(address):
            return address
        if _SCHEME.match(address):
            return address
        if _REMOTE.match(base):
            return urls.urljoin(base, address)
        return os.path.normpath(os.path.join(os.path.dirname(base), urls.unquote(address)))

    def _check(self, target: str, reference: str) -> None:
        if _REMOTE.match(target):
            if not self._follow or self._fetch is None:
                raise Unresolved(f"{reference} is a URL, which is fetched only with --fetch")
        elif (
            _SCHEME.match(target)
            or not self._directory
            or "\0" in target
            or repair_surrogates(target) != target
        ):
            raise Unresolved(
                f"{reference} is not a file beside the description, "
                "nor an http:// or https:// address"
            )
        elif os.path.commonpath([self._directory, os.path.realpath(target)]) != self._directory:
            raise Unresolved(
                f"{reference} is a file outside {os.path.basename(self._directory) or '/'}, "
                "the directory of the description"
            )
        if len(self._documents) >= MAX_DOCUMENTS:
            raise Unresolved(f"{reference} cannot be read: the limit is {MAX_DOCUMENTS} documents")

    def _read(self, target: str, base: str) -> Any:
        if _REMOTE.match(target):
            if self._fetch is None:
                raise UsageError(
                    f"{target} is a URL, and fetching was not allowed",
                    hint="pass --fetch",
                )
            data = self._fetch(target)
        else:
            data = atomic.read_bytes(os.path.realpath(target), limit=self._left)
        if len(data) > self._left:
            raise InvalidDocument(
                f"is too large: all documents together can have {MAX_BYTES} bytes", path=target
            )
        self._left -= len(data)
        self._documents[target] = parse_foreign(data, path=target)
        return self._documents[target]

    def _within(self, document: At, fragment: str, reference: str) -> At:
        fragment = urls.unquote(fragment)
        if fragment and not fragment.startswith("/"):
            found = self._named().get(f"{document.base}#{fragment}")
            if found is None:
                raise Unresolved(f"{reference} names an anchor that does not exist")
            return found
        try:
            value = pointers.resolve_pointer(document.value, fragment)
        except (LookupError, ValueError):
            raise Unresolved(f"{reference} leads nowhere") from None
        return At(value, document.base)

    def _resource(self, address: str, target: str) -> At | None:
        named = self._named()
        return named.get(target) or named.get(address)

    def _named(self) -> dict[str, At]:
        """Return what bears a name of its own (`$self`, `$id`, `$anchor`) in the first document,
        found when first asked for.
        """
        if self._resources is None:
            self._resources = dict(_names(self.root))
        return self._resources


def _names(root: At) -> Iterator[tuple[str, At]]:
    if isinstance(identity := root.text("$self"), str) and identity:
        yield identity, root
    waiting = [root]
    while waiting:
        at = waiting.pop()
        for key, item in at.items():
            if isinstance(item.value, (dict, list)):
                waiting.append(item)
            elif isinstance(item.value, str) and isinstance(at.value, dict):
                if key == "$id":
                    yield item.value, at
                elif key in ("$anchor", "$dynamicAnchor"):
                    yield f"{at.base}#{item.value}", at


def is_address(source: str) -> bool:
    """Whether a source is an http:// or https:// address."""
    return _REMOTE.match(source) is not None
