"""What lint says: one frozen value a finding, the order of its severities, and its plain form for
JSON.
"""

from typing import Any

from vespe.models import Severity
from vespe.records import dataclass, json_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a rule says of one place.

    `pointer` is an RFC 6901 pointer into the file `path` as given, `""` for the whole of it, never
    None. `line` and `column` count from 1, columns in characters; where the file is no text that
    could be read they are 1. `tool` is the tool's name where it is known. `fix` is a sentence that
    says what to do.
    """

    rule: str
    severity: Severity
    message: str
    path: str
    pointer: str = ""
    line: int = 1
    column: int = 1
    tool: str | None = None
    fix: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the finding as `vespe lint --json` prints it."""
        return json_of(self)
