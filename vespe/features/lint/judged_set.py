"""What the rules over sets find among the outlines of tools, kept in the user's cache for large
sets; losing it costs time only.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from vespe.features.lint import RULES
from vespe.features.lint.base import Bounds, Found, Outline, SetRule
from vespe.features.lint.kept import KeptRows
from vespe.lazy import hashlib
from vespe.tools.effects import FlowContext

_MANY: Final = 50
"""From so many tools on it is kept."""
_ALL: Final = {
    rule.code: rule for rule in RULES.values() if isinstance(rule, SetRule) and not rule.reads_files
}
Told = tuple[SetRule, int, Found]
"""A rule, the index of the outline that it is about (-1: all of them), and what it found."""


class JudgedSet:
    """One set: the outlines in their order, each with the digest of what it follows from, or "".

    `bounds` and `around` are what the project and the user say for all of them.
    """

    def __init__(
        self,
        outlines: Sequence[Outline],
        digests: Sequence[str],
        bounds: Bounds,
        around: FlowContext,
    ) -> None:
        self._outlines, self._digests = outlines, digests
        self._bounds, self._around = bounds, around

    def by(self, rules: Sequence[SetRule], *, kept_for: str) -> Iterator[Told]:
        """Ask the rules. Where the set is large their answers are kept under a name that is not "",
        but for those of rules that read files.
        """
        told = None
        if kept_for and len(self._outlines) >= _MANY:
            cache = KeptRows(f"set of {kept_for}", [self._identity()])
            told = _told(cache.rows)
            if told is None and {rule.code for rule in rules} >= _ALL.keys():
                told = [one for rule in _ALL.values() for one in self._asked(rule)]
                cache.save({"told": [_row(*one) for one in told]})
        for rule in rules:
            if told is None or rule.reads_files:
                yield from self._asked(rule)
            else:
                yield from (one for one in told if one[0] is rule)

    def _asked(self, rule: SetRule) -> Iterator[Told]:
        for index, found in rule.check(self._outlines, self._bounds):
            yield rule, index, found

    def _identity(self) -> str:
        """Return the digest of all that the rules go by."""
        held, hosts = self._around.held, sorted(self._around.own_hosts)
        found = hashlib.sha256(repr((self._bounds, held, hosts)).encode("utf-8", "replace"))
        for one, digest in zip(self._outlines, self._digests, strict=True):
            about: list[Any] = [
                digest,
                one.directory,
                one.scope,
                one.kit_id,
                one.linted,
                one.available,
            ]
            if not digest:
                about.append(asdict(one) | {"assumed": sorted(one.assumed)})
            found.update(json.dumps(about).encode())
        return found.hexdigest()


def _row(rule: SetRule, index: int, found: Found) -> list[Any]:
    return [
        *(rule.code, index, found.message, found.part, found.pointer),
        *(found.fix, found.target, found.severity),
    ]


def _told(rows: dict[str, list[Any]]) -> list[Told] | None:
    """Return what is kept; None where nothing is, or what was never written here."""
    try:
        return [
            (
                _ALL[code],
                index,
                Found(
                    message=message,
                    part=part,
                    pointer=pointer,
                    fix=fix,
                    target=target,
                    severity=severity,
                ),
            )
            for code, index, message, part, pointer, fix, target, severity in rows["told"]
        ]
    except (KeyError, ValueError, TypeError):
        return None
