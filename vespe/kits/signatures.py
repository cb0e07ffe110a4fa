"""Who signed the tag that a kit comes from: SSH signatures, verified offline against the user's own
file of allowed signers.
"""

import os
import re
from dataclasses import replace
from typing import Final

from vespe.errors import Refused
from vespe.git import repository
from vespe.git import session as git_session
from vespe.git.refs import RemoteRef
from vespe.git.session import Session
from vespe.kits.lock import LockedKit
from vespe.processes import process

_MAX_TAG: Final = 1024 * 1024
_TAGS: Final = "refs/tags/"
_SIGNED: Final = b"\n-----BEGIN SSH SIGNATURE-----\n"
_GOOD: Final = re.compile(
    r'^Good "git" signature for (\S+) with \S+ key (SHA256:[A-Za-z0-9+/=]+)$', re.MULTILINE
)
_UNKNOWN: Final = ("No principal matched", "no principal matched")
_FLAG: Final = "--allow-signer-change"


def signer_of(session: Session, ref: RemoteRef, allowed: str | None) -> str | None:
    """Return who signed the fetched tag (`PRINCIPAL SHA256:…`); None if the file `allowed` is None
    or names none of its signers.

    Raises Refused for a signature that is not over these bytes, and for a signed tag that is
    offered under another name.
    """
    if (
        allowed is None
        or ref.name is None
        or not ref.name.startswith(_TAGS)
        or ref.object == ref.commit
    ):
        return None
    tag = git_session.run(session, "cat-file", "tag", ref.object, cap_bytes=_MAX_TAG)
    if _SIGNED not in tag:
        return None
    name = re.search(rb"^tag (.*)$", tag.partition(b"\n\n")[0], re.MULTILINE)
    if name is None or name[1] != os.fsencode(ref.name.removeprefix(_TAGS)):
        raise Refused(
            f"{session.what} offers {ref.name}, but its signed tag has another name",
            hint="nothing was changed",
        )
    return _verified(session, ref, allowed)


def kept_signer(known: LockedKit | None, new: LockedKit, *, change: bool = False) -> LockedKit:
    """Return a kit as the lock is to have it: the same bytes stay signed by whom the lock says.

    Raises Refused where a kit that the lock holds as signed comes unsigned, or signed by another,
    unless that `change` is wanted.
    """
    if known is None or known.signer is None or new.signer == known.signer:
        return new
    if new.digest == known.digest:
        return replace(new, signer=known.signer)
    if change:
        return new
    now = (
        f"signed by {new.signer}" if new.signer else "not signed by anyone in your allowed_signers"
    )
    hint = (
        f"ask its author, or accept it with `{_FLAG}`; the setting `allowed_signers` lists the "
        "signers that you trust"
    )
    raise Refused(
        f"the kit {new.kit_id} was signed by {known.signer}, and this version is {now}", hint=hint
    )


def _verified(session: Session, ref: RemoteRef, allowed: str) -> str | None:
    signers = f"gpg.ssh.allowedSignersFile={allowed}"
    argv = (*repository.FETCHING, "-c", signers, f"--git-dir={session.directory}")
    done = process.run(
        process.Command(
            argv=(*argv, "verify-tag", "--raw", ref.object),
            cwd=os.path.dirname(session.directory),
            env=git_session.environment(session),
            timeout_s=session.left_s,
            name="git",
        )
    )
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    if done.returncode == 0 and (good := _GOOD.search(said)):
        return f"{good[1]} {good[2]}"
    if any(words in said for words in _UNKNOWN):
        return None
    reason = "; ".join(line.strip() for line in said.splitlines() if line.strip())[:300]
    raise Refused(
        f"{session.what}: the signature of {ref.name} is not valid: "
        f"{reason or 'git gave no reason'}",
        hint="nothing was changed",
    )
