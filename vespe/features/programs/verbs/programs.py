"""What `vespe program run` and `vespe program check` have in common: where the program is, and how
what is wrong with it is printed.
"""

import sys
from collections.abc import Mapping
from typing import Any

from vespe.cli import report
from vespe.documents import strict_json
from vespe.features.programs.source import MAX_BYTES
from vespe.files import atomic


def read_code(file: str) -> str:
    """Return the program in a file, or on stdin for `-`. Raises StorageError, InvalidDocument."""
    if file == "-":
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        data = atomic.read_bytes(file, limit=16 * MAX_BYTES)
    return strict_json.decode_utf8(data, "stdin" if file == "-" else file)


def explain(problems: list[Mapping[str, Any]], file: str) -> None:
    """Print all that is wrong with a program, a line each."""
    for one in problems:
        where = f"{file}:{one['line']}" if one["line"] else file
        report.error(f"{where}: {one['message']}")
    report.note("nothing in the program was run")
