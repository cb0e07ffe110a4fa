"""What `vespe program run` and `vespe program check` have in common: where the program is, and how
what is wrong with it is printed.
"""

import sys
from collections.abc import Mapping
from typing import Any, Final

from vespe.cli import report
from vespe.documents import strict_json
from vespe.errors import InvalidDocument
from vespe.features.programs.source import MAX_BYTES, too_large
from vespe.files import atomic

_MOST_READ: Final = 16 * MAX_BYTES
"""More than a program may have: how much it has is known once its lines end as Python's do."""


def read_code(file: str) -> str:
    """Return the program in a file, or on stdin for `-`. Raises StorageError, InvalidDocument, and
    InvalidProgram where it is far too long.
    """
    try:
        if file == "-":
            data = sys.stdin.buffer.read(_MOST_READ + 1)
        else:
            data = atomic.read_bytes(file, limit=_MOST_READ)
    except InvalidDocument as error:
        if "is larger than" not in str(error):
            raise
        raise too_large(f"more than {_MOST_READ:,}") from None
    if len(data) > _MOST_READ:
        raise too_large(f"more than {_MOST_READ:,}")
    return strict_json.decode_utf8(data, "stdin" if file == "-" else file)


def explain(problems: list[Mapping[str, Any]], file: str) -> None:
    """Print all that is wrong with a program, a line each."""
    for one in problems:
        where = f"{file}:{one['line']}" if one["line"] else file
        report.error(f"{where}: {one['message']}")
    report.note("nothing in the program was run")
