"""Names of files that are safe on every machine: why one is not, and what two would share on some
file system; pure.
"""

import functools
import re
import unicodedata
from typing import Final

from vespe.documents.unseen import is_seen

MAX_NAME_BYTES: Final = 255
MAX_PATH_BYTES: Final = 1000
MAX_DEPTH: Final = 32
_RESERVED: Final = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:\..*)?",
    re.IGNORECASE,
)
_FORBIDDEN: Final = re.compile(r'[\\:*?"<>|]')
_GIT: Final = re.compile(r"\.git|git~[0-9]+", re.IGNORECASE)


def unsafe(path: str) -> str | None:
    """Say why a file of this path (with `/`) is not written, as the end of a sentence that begins
    with the path; None where it is safe.
    """
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        return f"is longer than {MAX_PATH_BYTES} bytes"
    names = path.split("/")
    if len(names) > MAX_DEPTH:
        return f"is deeper than {MAX_DEPTH} directories"
    for name in names:
        if reason := _unsafe_name(name):
            return reason
    return None


def folded(path: str) -> str:
    """Return what a path is called where case and composition of letters do not count: two paths of
    one such name collide.
    """
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).upper().casefold())


@functools.lru_cache(maxsize=4096)
def _unsafe_name(name: str) -> str | None:
    if name in ("", ".", ".."):
        return "leads out of its directory, or is empty"
    if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
        return f"contains a name of more than {MAX_NAME_BYTES} bytes"
    if not is_seen(name):
        return "contains a control character, an invisible character, or bytes that are not UTF-8"
    if _FORBIDDEN.search(name) or name.startswith("-"):
        return "contains a character that is not allowed in names on every system, or begins with -"
    if name != name.strip(" ") or name.endswith("."):
        return "begins or ends with a space, or ends with a dot"
    if _GIT.fullmatch(unicodedata.normalize("NFKC", name).rstrip(" .")):
        return "is a name that git reserves"
    return "is a device on Windows" if _RESERVED.fullmatch(name) else None
