"""One row of the table of sandbox escapes."""

from vespe.records import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """An attack, and its twin: a similar action that is allowed.

    `policy` is `default` (no permissions stated), `closed` (all stated, as few as possible),
    `hosts` or `sockets` (one host or socket stated), `links` (the stated paths are links or do not
    exist), `late` (no permissions stated, and files change while the tool runs), `home` (the
    project is the home directory) or `late home` (both).

    `gap` is the gap through which the attack may succeed. If it names two, separated by a comma,
    the first applies at `namespaces`, the second elsewhere. `needs` is something that not every
    machine has and both actions use: a program, a path, or one of the names of `canaries.py`.
    `touches` says what an attack that succeeds would change on the machine; only tests try such a
    row.
    """

    name: str
    attack: str
    twin: str
    gap: str = ""
    policy: str = "default"
    root_only: bool = False
    needs: str = ""
    touches: str = ""
