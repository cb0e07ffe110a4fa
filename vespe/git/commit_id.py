"""What a commit's id looks like: a module of its own, since every command that reads a lock asks,
and few start git.
"""

import re
from typing import Final

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def is_commit(ref: str | None) -> bool:
    """Whether a ref is a full commit id, which can mean only one thing."""
    return ref is not None and bool(_COMMIT.fullmatch(ref))
