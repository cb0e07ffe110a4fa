"""What a ref of a kit's source means now: asked of the source, nothing is fetched."""

import re
from collections.abc import Iterable
from typing import Final

from vespe.errors import NotFound, OutputTooLarge, Refused
from vespe.git import session as git_session
from vespe.git.commit_id import is_commit
from vespe.git.session import Session
from vespe.lazy import shlex
from vespe.records import dataclass

_MAX_LISTING: Final = 32 * 1024 * 1024
_TAGS: Final = "refs/tags/"
_VERSION: Final = re.compile(
    r"(?P<before>refs/tags/(?:[^\s^]*[/_-])?[vV]?)(?P<numbers>[0-9]{1,9}(?:\.[0-9]{1,9}){0,3})"
)
_LINE: Final = re.compile(r"([0-9a-f]{40}(?:[0-9a-f]{24})?)\t(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteRef:
    """What a ref means: `name` is the full one (None for a commit's id), `object` what it points
    at, a tag's own object or a commit.

    `commit` is the commit behind it; `newer` the tag of the latest version, where `name` is a tag
    of an earlier one, else "".
    """

    name: str | None
    object: str
    commit: str
    newer: str = ""


def resolve(session: Session, url: str, ref: str | None) -> RemoteRef:
    """Ask what a ref (None: the default branch) means at `url`; raises NotFound, and as `git.run`
    does.

    A tag goes before a branch of its name, as in git itself. A whole commit id is taken as it is.
    """
    if ref is not None and is_commit(ref):
        return RemoteRef(name=None, object=ref, commit=ref)
    advertised = _advertised(session, url)
    names = (f"refs/tags/{ref}", f"refs/heads/{ref}") if ref is not None else ("HEAD",)
    for name in names:
        if name in advertised:
            commit = advertised.get(f"{name}^{{}}", advertised[name])
            return RemoteRef(
                name=name, object=advertised[name], commit=commit, newer=_newer(name, advertised)
            )
    if ref is None:
        raise NotFound(
            f"{session.what} has no commits yet", hint="commit the kit first, then try again"
        )
    tags = (
        name.removeprefix(_TAGS)
        for name in advertised
        if name.startswith(_TAGS) and not name.endswith("^{}")
    )
    known = sorted(
        tags,
        key=lambda tag: [
            int(part) if number % 2 else part
            for number, part in enumerate(re.split("([0-9]+)", tag))
        ],
    )
    more = (
        f" and {len(known) - 5} more (`git ls-remote --tags {shlex.quote(url)}` shows all)"
        if len(known) > 5
        else ""
    )
    hint = (
        f"its tags: {', '.join(known[:-6:-1])}{more}"
        if known
        else "name a branch, a tag or a full commit id"
    )
    raise NotFound(f"{session.what} has neither a tag nor a branch {ref!r}", hint=hint)


def _newer(name: str, advertised: Iterable[str]) -> str:
    """Return the tag of the latest version among those that are written as `name` is; "" where none
    is later.
    """
    own = _VERSION.fullmatch(name)
    others = (_VERSION.fullmatch(other) for other in advertised)
    alike = [other for other in others if own and other and other["before"] == own["before"]]
    latest = max(alike, key=_numbers, default=own)
    return (
        latest[0].removeprefix(_TAGS) if own and latest and _numbers(latest) > _numbers(own) else ""
    )


def _numbers(version: re.Match[str]) -> tuple[int, ...]:
    return tuple(int(number) for number in version["numbers"].split("."))


def _advertised(session: Session, url: str) -> dict[str, str]:
    try:
        listing = git_session.run(
            session, "ls-remote", "--quiet", "--", url, cap_bytes=_MAX_LISTING
        )
    except OutputTooLarge:
        raise Refused(
            f"{session.what} lists more than {_MAX_LISTING // 2**20} MiB of refs, so the download "
            "was stopped"
        ) from None
    found = (_LINE.fullmatch(line) for line in listing.decode("utf-8", "replace").splitlines())
    return {match[2]: match[1] for match in found if match}
