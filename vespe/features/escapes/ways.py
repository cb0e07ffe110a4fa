"""One way out of the sandbox, as the tables of ways have it."""

from vespe.records import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """`policy` is `default` (nothing stated), `closed` (everything stated, as little as can be),
    `hosts` and `sockets` (one of them stated, and little else), `links` (what is stated are links,
    and what is not there), `late` (nothing stated, and the home
    changes once it runs), or `home` (the project is the home), `late home` (both).

    `gap` is what names a leak; of two, with a comma between, the first does at `namespaces`.
    `needs` is what both take that not every machine has: a program, a path, or one of the names of
    `canaries.py`. `touches` says what of the machine's own an attack would reach that got through:
    only tests try such a row.
    """

    name: str
    attack: str
    twin: str
    gap: str = ""
    policy: str = "default"
    root_only: bool = False
    needs: str = ""
    touches: str = ""
