"""The cases of lint: directories with what to lint and what is expected of it; run as a module,
this writes what is found.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vespe.features.lint.audit import Audit
from vespe.features.lint.settings import Settings

CASES = Path(__file__).resolve().parents[1] / "cases" / "lint"
Row = list[Any]
"""Rule, severity, file relative to the case, pointer, line."""


@dataclass(frozen=True)
class Case:
    """One directory: `lint` is the path to lint in it, `select` the rules to ask, `findings` what
    they say, in order.
    """

    directory: Path
    lint: str
    select: tuple[str, ...]
    targets: tuple[str, ...]
    findings: list[Row]

    def found(self) -> list[Row]:
        """Lint it."""
        path = self.directory if self.lint == "." else self.directory / self.lint
        audit = Audit(Settings(select=self.select, targets=self.targets))
        rows = [
            [f.rule, f.severity, self._relative(f.path), f.pointer, f.line]
            for f in audit.findings([str(path)])
        ]
        return sorted(rows, key=lambda row: (row[2], row[4], row[3], row[0]))

    def _relative(self, path: str) -> str:
        return str(Path(path).resolve().relative_to(self.directory))


def case_of(directory: Path) -> Case:
    """Read one case."""
    said = json.loads((directory / "expect.json").read_text(encoding="utf-8"))
    return Case(
        directory,
        said["lint"],
        tuple(said["select"].split(",")),
        tuple(said.get("targets", ())),
        said["findings"],
    )


def cases(kind: str) -> list[Case]:
    """Give the cases that are `good` or `bad`, by their names."""
    return [case_of(path.parent) for path in sorted((CASES / kind).glob("*/expect.json"))]


def main() -> None:
    """Write what is found now into each expect.json: to be read before it is committed."""
    for case in [*cases("good"), *cases("bad")]:
        file = case.directory / "expect.json"
        said = json.loads(file.read_text(encoding="utf-8")) | {"findings": case.found()}
        rows = ",\n    ".join(json.dumps(row, ensure_ascii=False) for row in said.pop("findings"))
        head = json.dumps(said, indent=2, ensure_ascii=False)[:-2]
        file.write_text(
            f'{head},\n  "findings": [{f"{chr(10)}    {rows}{chr(10)}  " if rows else ""}]\n}}\n',
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
