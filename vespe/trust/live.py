"""Trust in a process that lives: every call asks, and only what may have changed is looked at
again.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial

from vespe import defaults
from vespe.files.stamps import Stamp, are_settled, stamp
from vespe.files.watch import Held, Watch
from vespe.models import ProjectConfig
from vespe.trust import approvals, gate


class LiveTrust:
    """The trust of one project, for many calls.

    A grant that is bound to a place is kept while the place and the user's approvals are as they
    were; one that is bound to bytes is checked against the bytes each time, of which only those
    that changed are read again.
    """

    def __init__(
        self,
        config: ProjectConfig,
        *,
        environ: Mapping[str, str],
        trusted: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self._check = gate.TrustCheck(config, environ=environ, trusted=trusted)
        self._watched = (os.path.join(config.root, defaults.PROJECT_DIR), approvals.directory())
        self._listed: Callable[[], object] = partial(environ.get, defaults.ENV_TRUSTED_PATHS)
        self._kept: dict[str | None, tuple[gate.Grant, Held, object]] = {}
        self._watch = Watch() if watch is None else watch

    def read_anew(self, config: ProjectConfig) -> None:
        """Take the configuration that is used from now on: which kits are active is part of an
        approval of bytes.
        """
        self._check.config = config

    def kept(self, tool_directory: str | None = None) -> gate.Grant | None:
        """Return the grant that was given before, where all that it rests on is as it was then."""
        if (known := self._kept.get(tool_directory)) is None:
            return None
        grant, held, listed = known
        # The variable gives grants and takes none that rests on something else; to read it takes
        # as long as all of the rest.
        return grant if (listed is None or listed == self._listed()) and held.hold() else None

    def check(self, tool_directory: str | None = None) -> gate.Grant:
        """Return the grant under which the tool in `tool_directory` may run now; raises as
        `trust.check` does.
        """
        if (known := self.kept(tool_directory)) is not None:
            return known
        own = (
            (os.path.join(self._watched[0], defaults.TOOLS_DIR), tool_directory)
            if tool_directory is not None
            else ()
        )
        places, listed = (
            tuple((path, stamp(path)) for path in (*self._watched, *own)),
            self._listed(),
        )
        grant = self._check.check(tool_directory)
        if (
            grant.files is None
            and grant.kind != "tool"
            and are_settled(found for _, found in places)
        ):
            rests_on = listed if grant.kind == "environment" else None
            self._kept[tool_directory] = grant, Held(places, self._watch), rests_on
        return grant

    def stamps(self) -> tuple[Stamp, ...]:
        """Return what changes when an approval is given or taken back, or the project is another
        one.
        """
        return tuple(stamp(path) for path in self._watched)
