"""Trust in a process that lives: every call asks, and only what may have changed is looked at again."""

import os
from collections.abc import Mapping

from vespe import defaults
from vespe.files.stamps import Stamp, settled, stamp
from vespe.models import ProjectConfig
from vespe.trust import approvals, gate


class LiveTrust:
    """The trust of one project, for many calls.

    A grant that is bound to a place is kept while the place and the user's approvals are as they were; one that is bound
    to bytes is checked against the bytes each time, of which only those that changed are read again.
    """

    def __init__(self, config: ProjectConfig, *, environ: Mapping[str, str], trusted: bool = False) -> None:
        self._check = gate.TrustCheck(config, environ=environ, trusted=trusted)
        self._watched = (os.path.join(config.root, defaults.PROJECT_DIR), approvals.directory())
        self._environ = environ
        self._kept: dict[str | None, tuple[gate.Grant, tuple[Stamp, ...], str | None]] = {}

    def read_anew(self, config: ProjectConfig) -> None:
        """Take the configuration that is used from now on: which kits are active is part of an approval of bytes."""
        self._check.config = config

    def kept(self, tool_directory: str | None = None) -> gate.Grant | None:
        """Return the grant that was given before, where all that it rests on is as it was then."""
        known = self._kept.get(tool_directory)
        if known is None or known[2] != self._listed():
            return None
        for path, before in zip(self._watched, known[1], strict=True):
            if stamp(path) != before:
                return None
        return known[0]

    def check(self, tool_directory: str | None = None) -> gate.Grant:
        """Return the grant under which the tool in `tool_directory` may run now; raises as `trust.check` does."""
        if (known := self.kept(tool_directory)) is not None:
            return known
        stamps, listed = self.stamps(), self._listed()
        grant = self._check.check(tool_directory)
        if grant.files is None and grant.kind != "tool" and settled(stamps):
            self._kept[tool_directory] = grant, stamps, listed
        return grant

    def stamps(self) -> tuple[Stamp, ...]:
        """Return what changes when an approval is given or taken back, or the project is another one."""
        return tuple(stamp(path) for path in self._watched)

    def _listed(self) -> str | None:
        return self._environ.get(defaults.ENV_TRUSTED_PATHS)
