"""Where a kit comes from: the text that a person writes, as a source that git and this machine can
be asked for; pure.
"""

import os
import re
from typing import Final

from vespe.errors import Refused
from vespe.records import dataclass

_PORT: Final = (
    r"[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
)
_HOST: Final = rf"[A-Za-z0-9](?:[A-Za-z0-9.-]{{0,251}}[A-Za-z0-9])?(?::(?:{_PORT}))?"
_SEGMENT: Final = r"[A-Za-z0-9._~][A-Za-z0-9._~+-]*"
_PATH: Final = rf"(?:/{_SEGMENT})+/?"
_HTTPS: Final = re.compile(rf"https://{_HOST}{_PATH}")
_SSH: Final = re.compile(rf"ssh://(?:[A-Za-z0-9_][A-Za-z0-9._-]*@)?{_HOST}{_PATH}")
_GITHUB: Final = re.compile(r"gh:([A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._][A-Za-z0-9._-]*)")
_REF: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,254}")
_ARCHIVE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9._-]+)*\.kit")
"""A file of `vespe kit pack`, named as any other file is: nothing else that ends so is a source."""
_UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_MAX: Final = 2048
ARCHIVE_SUFFIX: Final = ".kit"
_HINT: Final = (
    "name an https:// or ssh:// URL, gh:owner/repo, or a path that begins with / or ., then @REF"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KitSource:
    """One place that kits come from.

    `kind` is `https`, `ssh`, `path` (a repository or a folder on this machine) or `archive` (a
    `.kit` file). `text` is what the lock keeps: the URL, or the path as it was written. `ref` is
    what was asked for: a branch, a tag or a whole commit.
    """

    kind: str
    text: str
    ref: str | None = None

    @property
    def remote(self) -> bool:
        """Whether asking for it needs the network."""
        return self.kind in ("https", "ssh")

    def path(self, base: str) -> str:
        """Return the absolute path of a local source; a relative one begins at `base`."""
        return os.path.abspath(os.path.join(base, self.text))


def parse_source(text: str) -> KitSource:
    """Read SOURCE[@REF]; raises Refused for whatever is on no list of what is allowed. No file and
    no host is looked at.
    """
    if len(text) > _MAX or _UNSAFE.search(text):
        raise Refused(
            f"{text[:80]!r} is not a source of kits: it is too long or contains characters that "
            "are not allowed",
            hint=_HINT,
        )
    head, slash, last = text.rpartition("/")
    name, at, ref = last.partition("@") if not text.startswith(("/", ".")) else _last_at(last)
    location = f"{head}{slash}{name}"
    source = _located(location, text)
    return KitSource(kind=source.kind, text=source.text, ref=check_ref(ref) if at else None)


def check_ref(ref: str) -> str:
    """Return a ref back; raises Refused for what is no plain name of a branch, a tag or a
    commit.
    """
    parts = ref.split("/")
    plain = (
        _REF.fullmatch(ref)
        and ".." not in ref
        and not any(p in ("", "@") or p.startswith((".", "-")) for p in parts)
    )
    if not plain or any(part.endswith((".", ".lock")) for part in parts):
        hint = "name a branch, a tag or a full commit id: letters, digits and . _ - /"
        raise Refused(f"{ref[:80]!r} is not a ref that Vespe asks git for", hint=hint)
    return ref


def _last_at(last: str) -> tuple[str, str, str]:
    name, at, ref = last.rpartition("@")
    return (name, at, ref) if at else (last, "", "")


def _located(location: str, text: str) -> KitSource:
    if short := _GITHUB.fullmatch(location):
        location = f"https://github.com/{short[1]}"
    if _ARCHIVE.fullmatch(location):
        location = f"./{location}"
    if location.startswith(("/", ".")):
        return KitSource(
            kind="archive" if location.endswith(ARCHIVE_SUFFIX) else "path", text=location
        )
    kind = "https" if _HTTPS.fullmatch(location) else "ssh" if _SSH.fullmatch(location) else ""
    if not kind or any(
        part.strip(".") == "" for part in location.split("://", 1)[1].rstrip("/").split("/")
    ):
        raise Refused(f"{text[:200]!r} is not a source of kits", hint=_hint(location))
    return KitSource(kind=kind, text=location.rstrip("/"))


def _hint(location: str) -> str:
    if re.match(r"https://[^/]*@", location):
        return (
            "a URL with a password would be stored in the lock; use git's credential helper instead"
        )
    if location.startswith("http://"):
        return "http is not encrypted, so anyone on the way could change the kit: use https"
    if re.fullmatch(rf"[\w.-]+@{_HOST}:[\w./~-]+", location):
        user_host, _, path = location.partition(":")
        return f"write it as a URL: ssh://{user_host}/{path}"
    return _HINT
