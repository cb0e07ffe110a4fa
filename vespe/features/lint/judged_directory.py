"""The judgements on all tool directories in one directory: from the cache, or made here, and where
very many are missing by several processes.
"""

import json
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, Final

from vespe import defaults
from vespe.errors import VespeError
from vespe.features.lint import RULES, kept
from vespe.features.lint.base import Rule
from vespe.features.lint.judgements import Judgement, judge
from vespe.processes import process
from vespe.processes.process import Command
from vespe.records import dataclass
from vespe.tools.effects import FlowContext

_MANY: Final = 50
"""From so many tools on judgements are kept: fewer are made in no time."""
_VERY_MANY: Final = 800
"""From so many missing ones on other processes help: each takes a quarter of a second to start."""
_MOST_PROCESSES: Final = 8
_ABOVE: Final = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
)
"""The directory that this package is imported from."""
_TIMEOUT_S: Final = 600.0
_CAP_BYTES: Final = 512 * 1024 * 1024
_BOOT: Final = """
import json, sys
own, others = {own}, {others}
sys.path[:] = [own, *sys.path, *(place for place in others if place not in sys.path)]
from vespe.features.lint.judged_directory import help_out
help_out()
"""
ALL: Final = tuple(rule for rule in RULES.values() if isinstance(rule, Rule))


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """A directory as findings name it, and what besides its files decides on its tools."""

    directory: str
    kit_id: str | None
    scope: str
    around: FlowContext

    def to_json(self) -> list[Any]:
        """Return it as JSON has it; `from_json` takes it."""
        return [
            *(self.directory, self.kit_id, self.scope),
            *(self.around.held, sorted(self.around.own_hosts)),
        ]


def about_of(said: list[Any]) -> About:
    """Return what `to_json` gave."""
    directory, kit_id, scope, held, hosts = said
    around = FlowContext(held=held, own_hosts=tuple(hosts))
    return About(directory=directory, kit_id=kit_id, scope=scope, around=around)


class JudgedDirectory:
    """The judgements on the tools in one directory by `rules`; ask `of` for each uid, then `save`.

    Without a cache (`is_kept`), and where few tools are expected, each is made when it is asked
    for. What was made by some rules alone is not kept.
    """

    def __init__(self, about: About, uids: Sequence[str], *, rules: Sequence[Rule], is_kept: bool):
        self.about, self._rules, self._uids = about, rules, uids
        self._is_whole = len(rules) == len(ALL)
        self._cache: kept.KeptRows | None = None
        self._seen: dict[str, kept.Row] = {}
        self._made: dict[str, kept.Row] = {}
        self._helpers: dict[str, _Helper] = {}
        if is_kept and len(uids) >= _MANY:
            config = os.path.join(about.directory, defaults.KIT_CONFIG_FILE)
            limits = kept.digest_of(config) if about.kit_id is not None else ""
            name = "\0".join((os.path.abspath(about.directory), about.directory))
            self._cache = kept.KeptRows(name, [about.to_json(), limits])

    def begin(self) -> None:
        """Have other processes judge a part of what was never judged, where that is very much."""
        cache = self._cache
        missing = [uid for uid in self._uids if cache and uid not in cache.rows]
        count = min(_cores(), _MOST_PROCESSES)
        if len(missing) < _VERY_MANY or count < 2 or not self._is_whole:
            return
        # the share of this process comes first, so that it meets theirs when they are done
        share = -(-len(missing) // count)
        for at in range(share, len(missing), share):
            helper = _Helper(self.about, missing[at : at + share])
            self._helpers |= dict.fromkeys(helper.uids, helper)

    def end(self) -> None:
        """End the processes that still work."""
        for helper in set(self._helpers.values()):
            helper.cancel.set()

    def of(self, uid: str, *, linted: bool) -> tuple[Judgement, str]:
        """Return the judgement on a tool, and the digest that it is kept by: "" where it is not."""
        directory = os.path.join(self.about.directory, uid)
        if self._cache is None:
            return self._judge(directory, linted=linted), ""
        if uid in self._helpers:
            self._made |= self._helpers.pop(uid).rows()
        if (row := self._made.pop(uid, None)) is not None:
            self._seen[uid] = row
            return kept.judgement_of(row, scope=self.about.scope), row[0]
        look = kept.look_at(directory)
        row = self._cache.rows.get(uid)
        if row is not None and look is not None and row[:1] == [look.digest]:
            judgement = self._believed(row, directory)
            if judgement is not None and (judgement.found is not None or not linted):
                self._seen[uid] = row
                return judgement, look.digest
        judgement = self._judge(directory, linted=linted)
        if look is None or judgement.outside.is_more or not look.holds:
            return judgement, ""
        if self._is_whole or judgement.found is None:
            self._seen[uid] = kept.row_of(judgement, look.digest)
        return judgement, look.digest

    def save(self) -> None:
        """Keep what was asked for."""
        if self._cache is not None and self._is_whole:
            self._cache.save(self._seen)

    def _judge(self, directory: str, *, linted: bool) -> Judgement:
        return _judged(self.about, directory, self._rules if linted else None)

    def _believed(self, row: kept.Row, directory: str) -> Judgement | None:
        try:
            judgement = kept.judgement_of(row, scope=self.about.scope)
        except (ValueError, TypeError, KeyError, IndexError):
            return None
        return judgement if judgement.outside.still_holds(directory) else None


class _Helper:
    """A process that judges some tools meanwhile; what it does not answer is judged here."""

    def __init__(self, about: About, uids: Sequence[str]) -> None:
        self.uids, self.cancel = uids, threading.Event()
        self._asked = json.dumps([about.to_json(), uids]).encode()
        self._answer = b"{}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        # this very code first; a working directory that is among the others comes after the
        # standard library, so that no file of what is linted takes the place of a module
        others = [place for place in sys.path if place]
        boot = _BOOT.format(own=repr(_ABOVE), others=repr(others))
        try:
            command = Command(
                argv=(sys.executable, "-I", "-c", boot),
                cwd=os.getcwd(),
                env=dict(os.environ),
                stdin=self._asked,
                timeout_s=_TIMEOUT_S,
                cap_bytes=_CAP_BYTES,
            )
            finished = process.run(command, cancel=self.cancel)
        except (VespeError, OSError):
            return
        if finished.returncode == 0:
            self._answer = finished.stdout

    def rows(self) -> dict[str, kept.Row]:
        """Return what it made, once; waits for its end."""
        self._thread.join()
        answer, self._answer = self._answer, b"{}"
        rows: dict[str, kept.Row] = json.loads(answer)
        return rows


def help_out() -> None:
    """Judge the tools that stdin names, and print what can be kept: the other process's part."""
    said, uids = json.load(sys.stdin)
    about, rows = about_of(said), {}
    for uid in uids:
        directory = os.path.join(about.directory, uid)
        look = kept.look_at(directory)
        judgement = _judged(about, directory, ALL)
        if look is not None and not judgement.outside.is_more and look.holds:
            rows[uid] = kept.row_of(judgement, look.digest)
    json.dump(rows, sys.stdout)


def _judged(about: About, directory: str, rules: Sequence[Rule] | None) -> Judgement:
    return judge(
        directory, kit_id=about.kit_id, scope=about.scope, around=about.around, rules=rules
    )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
