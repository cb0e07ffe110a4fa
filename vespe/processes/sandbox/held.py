"""What a process is held to, as a value: made by `policy`, carried to the child by `process`, and done there by `enter`."""

import os
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from vespe.records import dataclass

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a process is held to: `message` is what `enter` takes, and `gaps` names what it cannot hold.

    `network` are the hosts that the tool states, None where it states none. `hosts` are those that its proxy lets through, None
    where there is no proxy. `environment` is to be added to the process's own.
    """

    level: str
    gaps: tuple[str, ...] = ()
    message: Mapping[str, Any] = field(default_factory=dict, repr=False)
    network: tuple[str, ...] | None = None
    hosts: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def refuses(self, kind: str, what: str) -> bool:
        """Whether it holds the process back from a path (`read`, `write`, `programs`) or from a host (`network`)."""
        if not self.message:
            return False
        if kind == "network":
            return (
                self.network is not None
                and not is_loopback(what)
                and what.rpartition(":")[0] not in self.network
                and what not in self.network
            )
        wanted = {"read": READ_FILE, "write": WRITE_FILE, "programs": EXECUTE}[kind]
        place = os.fsencode(os.path.realpath(what))
        return not any(
            rights & wanted and (place == path or place.startswith(path.rstrip(b"/") + b"/")) for path, rights in self.message["rules"]
        )

    @property
    def document(self) -> dict[str, Any]:
        """What an Outcome says of it."""
        return {"level": self.level, "gaps": list(self.gaps)}


def is_loopback(address: str) -> bool:
    """Whether an address, with or without a port, is this process's own machine, or a name for none."""
    return address.startswith(("127.", "::1", "localhost", ":", "/")) or not address
