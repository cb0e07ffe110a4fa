"""Where this Vespe came from, as pip installs it again: for files that install it elsewhere.

No index is named: a package called `vespe` there may be anybody's.
"""

import glob
import json
import re
import sys
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError, UsageError
from vespe.git.commit_id import is_commit
from vespe.models import JsonObject

VARIABLE: Final = "VESPE_INSTALL"
"""What pip installs as Vespe; it goes before what is found."""
_INFO: Final = "vespe-*.dist-info"
"""What an installer writes beside a package; the first on the path is the one that is imported."""
_REMOTE: Final = ("https", "ssh")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


def requirement(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return what pip installs to have this Vespe elsewhere, or "" and why nobody knows that.

    Raises UsageError for a VESPE_INSTALL that is more than one line.
    """
    if said := environ.get(VARIABLE, "").strip():
        if not said.isprintable():
            raise UsageError(f"{VARIABLE} must be one line, without control characters")
        return said, ""
    installed = next(
        (
            path
            for where in filter(None, sys.path)
            for path in sorted(glob.glob(f"{glob.escape(where)}/{_INFO}"))
        ),
        None,
    )
    try:
        found = strict_json.read_object_if_there(f"{installed}/direct_url.json")
    except (InvalidDocument, StorageError):
        found = {}
    return of_direct_url(found)


def of_direct_url(document: JsonObject) -> tuple[str, str]:
    """Return what `requirement` does, from the direct_url.json of an installer (PEP 610)."""
    url = document.get("url")
    parts = urlsplit(url) if isinstance(url, str) else None
    vcs, archive = document.get("vcs_info"), document.get("archive_info")
    if parts is None:
        return "", "it is not recorded where this version of Vespe was installed from"
    if "dir_info" in document or parts.scheme not in _REMOTE or parts.password:
        digest = _sha256(archive) if isinstance(archive, dict) else ""
        wheel = f", whose SHA-256 is {digest}" if digest else ""
        what = "a file" if isinstance(archive, dict) else "a directory"
        return "", f"this Vespe was installed from {what} on the machine where this was made{wheel}"
    if isinstance(vcs, dict) and vcs.get("vcs") == "git" and is_commit(vcs.get("commit_id")):
        below = document.get("subdirectory")
        tail = f"#subdirectory={below}" if isinstance(below, str) and below else ""
        return f"vespe @ git+{url}@{vcs['commit_id']}{tail}", ""
    if isinstance(archive, dict) and (digest := _sha256(archive)):
        return f"vespe @ {url}#sha256={digest}", ""
    return "", "it is not recorded which commit or which files were installed"


def workflow_lines(environ: Mapping[str, str]) -> str:
    """Return the lines of a workflow's `env` that name what is installed, or that must be filled in
    and say why; raises as `requirement` does.
    """
    found, why = requirement(environ)
    said = (
        "What pip installs as Vespe: exactly what this was made with."
        if found
        else f"Fill this in, with a repository and a commit, or a wheel and its digest: {why}."
    )
    lines = [f"# {said}"]
    if not found:
        lines.append(
            "# Such as git+https://HOST/OWNER/vespe@COMMIT. Name no index: a package "
            "called vespe there may be anybody's."
        )
    return "\n      ".join((*lines, f"{VARIABLE}: {json.dumps(found)}"))


def _sha256(archive: JsonObject) -> str:
    hashes = archive.get("hashes")
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    named = str(archive.get("hash", "")).removeprefix("sha256=") if digest is None else str(digest)
    return named if _SHA256.fullmatch(named) else ""
