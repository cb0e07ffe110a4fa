"""What a call of a tool may do to the flow of data: derived from what the tool declares, else from
its words, or as config.json says.
"""

import os
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

from vespe.http import addresses
from vespe.models import PERMISSIONS, Tool
from vespe.records import dataclass
from vespe.tool_types import ToolType, find_type
from vespe.tools import bm25
from vespe.tools.allowances import host_and_port
from vespe.tools.fields import EFFECTS

_READ: Final = frozenset(
    bm25.words(
        "get read list search find fetch view show retrieve check lookup query browse download "
        "count load see inspect"
    )
)
_SEND: Final = frozenset(
    bm25.words(
        "send post share publish upload invite forward reply notify tweet transfer submit "
        "announce broadcast push"
    )
)
_BIND: Final = frozenset(
    bm25.words(
        "reserve book buy purchase order pay checkout subscribe rent hire bid donate wire remit "
        "redeem trade"
    )
)
"""Verbs that bind their user to somebody else, or pay."""
_DESTROY: Final = frozenset(
    bm25.words(
        "delete remove drop erase cancel destroy purge clear overwrite reset revoke kill "
        "terminate wipe uninstall"
    )
)
_CHANGE: Final = frozenset(
    bm25.words(
        "create add make new insert update edit modify change set reset replace rotate generate "
        "enable disable register grant assign"
    )
)
_VERBS: Final = (
    _READ
    | _SEND
    | _BIND
    | _DESTROY
    | _CHANGE
    | frozenset(bm25.words("write append move schedule run"))
)
_NOUNS: Final = frozenset(bm25.words("order book purchase post share bid trade wire query"))
"""Verbs that are nouns as well: another verb in the name decides, or what stands behind them."""
_ABOUT: Final = frozenset(
    bm25.words(
        "history status detail info information summary total count id number report statistic "
        "stats price reference log title author item"
    )
)
"""What stands behind a noun: `order_status` orders nothing."""
_LOGIN: Final = frozenset(
    bm25.words("password passwd passcode passphrase credential login mfa totp otp collaborator")
)
"""What lets somebody in, with a verb of _CHANGE."""
_LOGIN_PAIRS: Final = frozenset(
    {
        ("api", "key"),
        ("access", "key"),
        ("ssh", "key"),
        ("deploy", "key"),
        ("api", "token"),
        ("access", "token"),
        ("auth", "token"),
        ("two", "factor"),
    }
)
_TO: Final = frozenset(
    bm25.words("recipient cc bcc participant attendee email phone webhook iban destination")
)
"""Arguments that name whom a tool gives something to, unless it only reads."""
_WHERE: Final = frozenset(bm25.words("url uri link endpoint webhook host domain"))
"""Arguments by which the model chooses an address; even reading from it gives away what stands in
it.
"""
_PRIVATE: Final = frozenset(
    bm25.words(
        "email mail inbox message chat contact calendar event appointment file drive document note "
        "account iban balance transaction bank "
        "card password credential token secret user profile customer patient salary invoice order "
        "history medical health private personal"
    )
)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a tool is said to have an effect, in a few words; `stated` where its author says so, so
    that it is more than assumed. `correction` is the key and value of config.json with which its
    author says that it does not.
    """

    words: str
    stated: bool = False
    correction: str = ""


class FlowContext(NamedTuple):
    """What holds for all tools of a place: whether the sandbox is required (`held`), and which
    hosts the user calls their own.
    """

    held: bool = False
    own_hosts: Collection[str] = ()


def effects_of(
    tool: Tool, *, held: bool = False, own_hosts: Collection[str] = ()
) -> dict[str, str]:
    """Return a tool's effects, in the order of EFFECTS, each with the reason in a few words; see
    `reasons_of`.
    """
    found = reasons_of(tool, held=held, own_hosts=own_hosts)
    return {effect: reason.words for effect, reason in found.items()}


def reasons_of(
    tool: Tool, *, held: bool = False, own_hosts: Collection[str] = ()
) -> dict[str, Reason]:
    """Return a tool's effects, in the order of EFFECTS, each with its reason.

    `effects` in config.json stands in the place of what would be derived. What a tool declares (its
    type, secrets, permissions and annotations) decides; the words of its name and arguments only
    where it declares nothing. WebAssembly reaches nobody, and neither does what states no network,
    where the sandbox is required (`held`). What may reach no machine and no file reads nobody's
    words. A host that the user calls their own (`own_hosts`) or that is a private address is no
    stranger.
    """
    tool = tool.itself
    corrected = tool.document.get("effects")
    if isinstance(corrected, list):
        said = Reason("its config.json says so", stated=True)
        return {effect: said for effect in EFFECTS if effect in corrected}
    found: dict[str, Reason] = {}
    for effect, reason in (*_declared(tool), *_guessed(_Words(tool), tool)):
        known = found.get(effect)
        if known is None or (reason.stated and not known.stated):
            found[effect] = reason
    if at_home := _is_at_home(tool, own_hosts):
        found.pop("sends_out", None)
    if at_home and not _files_of(tool):
        found.pop("reads_untrusted", None)
    if _is_shut_in(tool, held=held):
        found.pop("sends_out", None)
    return {effect: found[effect] for effect in EFFECTS if effect in found}


def _kind_of(tool: Tool) -> ToolType | None:
    return find_type(tool.implementation.type) if tool.implementation else None


def _is_shut_in(tool: Tool, *, held: bool) -> bool:
    """Say whether it is proved that the tool reaches nobody."""
    kind = _kind_of(tool)
    who = kind.network if kind is not None else "own"
    return who == "none" or (
        held
        and who == "process"
        and all(
            tool.permissions.get(name, [] if PERMISSIONS[name].is_closed else None) == []
            for name in _granting("sends_out")
        )
    )


def _is_at_home(tool: Tool, own_hosts: Collection[str]) -> bool:
    """Say whether the tool reaches the user's own hosts and private addresses alone, by its URL or
    by the permissions that its process is held to.
    """
    kind, runs = _kind_of(tool), tool.implementation
    if kind is None or runs is None:
        return False
    hosts: list[Any] = []
    if address := kind.address({"path": runs.path, "args": runs.args}):
        hosts = [address[1]]
    elif kind.network == "process":
        for name in _granting("sends_out"):
            given: Any = tool.permissions.get(name)
            hosts += given if isinstance(given, list) else []
    return bool(hosts) and all(
        isinstance(host, str) and _is_own(*host_and_port(host), own_hosts) for host in hosts
    )


def _is_own(host: str, port: int, own_hosts: Collection[str]) -> bool:
    host = host.lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    if addresses.is_address(host):
        return addresses.why_denied(host) is not None or addresses.is_listed(host, port, own_hosts)
    return addresses.is_listed(host, port, own_hosts)


def _files_of(tool: Tool) -> str:
    """Return a file or directory that a tool's process may read, "" where there is none; what may
    be written may be read.
    """
    kind = _kind_of(tool)
    if kind is None or kind.network == "own":
        return ""
    stated: list[Any] = []
    for name in ("read", "write"):
        given: Any = tool.permissions.get(name)
        stated += given if isinstance(given, list) else []
    if stated:
        return str(stated[0])
    # a module has the directories that are stated, and no other; a process has the project
    return "" if kind.network == "none" or tool.permissions.get("read") == [] else "."


def _granting(effect: str) -> Iterator[str]:
    """Return the names of the permissions that have an effect where they are stated."""
    return (name for name, one in PERMISSIONS.items() if one.effect == effect)


def _declared(tool: Tool) -> Iterator[tuple[str, Reason]]:
    """Yield what the facts say, the best reason for each effect first."""
    hints = tool.annotations
    if tool.secrets:
        yield "reads_private", Reason(f"it has the secret {tool.secrets[0]}")
    for effect in ("reads_private", "sends_out"):
        yield from _permitted(tool, effect)
    runs, kind = tool.implementation, _kind_of(tool)
    if runs is not None and kind is not None:
        yield from ((effect, Reason(words)) for effect, words in kind.effects(runs))
    if hints.get("openWorldHint") is True:
        yield "reads_untrusted", Reason("openWorldHint is true", stated=True)
        if hints.get("readOnlyHint") is False:
            why = "openWorldHint is true, and it is not read-only"
            yield "sends_out", Reason(why, stated=True)
    if hints.get("readOnlyHint") is False:
        yield "writes", Reason("readOnlyHint is false", stated=True)
        if hints.get("destructiveHint") is not False:
            yield "destructive", Reason("destructiveHint is not false", stated=True)
    else:
        yield from _permitted(tool, "writes")


def _permitted(tool: Tool, effect: str) -> Iterator[tuple[str, Reason]]:
    """Yield the effect where the tool's permissions have it, with the first value as the reason."""
    for name in _granting(effect):
        given: Any = tool.permissions.get(name)
        for value in given if isinstance(given, list) else ():
            if effect != "reads_private" or (isinstance(value, str) and _is_outside(value)):
                yield effect, Reason(PERMISSIONS[name].reason.format(value), stated=True)
                break


class _Words:
    """The words of a tool's name and of its arguments' names; `verb` is the first that says what it
    does, "" where none does.
    """

    def __init__(self, tool: Tool) -> None:
        properties = tool.input_schema.get("properties")
        self.name = bm25.words(tool.name)
        self.verb = next(
            (word for place, word in enumerate(self.name) if self._does(place)),
            "send" if self.name[:1] in (["email"], ["mail"], ["message"]) else "",
        )
        self._arguments = (
            [name for name in properties if isinstance(name, str)]
            if isinstance(properties, dict)
            else []
        )

    def _does(self, place: int) -> bool:
        """Whether the word at this place of the name says what the tool does."""
        word, behind = self.name[place], self.name[place + 1 :]
        if word not in _NOUNS:
            return word in _VERBS
        return not _ABOUT.intersection(behind[:1]) and not any(
            other in _VERBS - _NOUNS for other in behind
        )

    def argument(self, among: frozenset[str]) -> str | None:
        """Return the first argument that has one of these words as its last."""
        return next(
            (name for name in self._arguments if among.intersection(bm25.words(name)[-1:])), None
        )

    def login(self) -> str:
        """Say what of a login the tool changes, "" where it changes none."""
        if self.verb not in _CHANGE:
            return ""
        for name in (self.name, *map(bm25.words, self._arguments)):
            if found := _LOGIN.intersection(name):
                return min(found)
            pairs = (pair for pair in pairwise(name) if pair in _LOGIN_PAIRS)
            if pair := next(pairs, None):
                return " ".join(pair)
        return ""


def _guessed(words: _Words, tool: Tool) -> Iterator[tuple[str, Reason]]:
    """Yield what the words say of a tool that does not say it itself; `openWorldHint: false` says
    that it reaches nobody.
    """
    hints, closed = tool.annotations, tool.annotations.get("openWorldHint") is False
    reads = hints.get("readOnlyHint") is True or (
        words.verb in _READ and hints.get("readOnlyHint") is None
    )
    private = next((word for word in words.name if word in _PRIVATE), "")
    if reads and private and not closed and not _states(tool, "reads_private"):
        yield "reads_private", Reason(f"its name suggests that it reads {private}")
    if hints.get("openWorldHint") is None and (reads or not words.verb):
        yield from _read_by(tool)
    if not closed and not _states(tool, "sends_out") and (why := _outward(words, reads=reads)):
        yield "sends_out", Reason(why)
    if not reads and hints.get("readOnlyHint") is None:
        yield "writes", Reason("it is not declared read-only")
        if hints.get("destructiveHint") is True or (
            hints.get("destructiveHint") is None and words.verb in _DESTROY
        ):
            yield (
                "destructive",
                Reason("destructiveHint is true", stated=True)
                if hints.get("destructiveHint")
                else Reason(f"its name contains {words.verb}"),
            )


def _read_by(tool: Tool) -> Iterator[tuple[str, Reason]]:
    """Yield that a tool which does not say whose words it reads may read a stranger's, where
    there is any place that it could read them from.
    """
    kind, files = _kind_of(tool), _files_of(tool)
    no_network = kind is not None and (
        kind.network == "none"
        or (kind.network == "process" and tool.permissions.get("network") == [])
    )
    if not no_network:
        yield (
            "reads_untrusted",
            Reason(
                "it does not declare `openWorldHint: false`",
                correction="annotations.openWorldHint=false",
            ),
        )
    elif files:
        yield "reads_untrusted", Reason(f"it may read files ({files})")


def _outward(words: _Words, *, reads: bool) -> str:
    """Say by which word a tool gives something to others, or ""."""
    if where := words.argument(_WHERE):
        return f"its argument {where} is a destination"
    if reads:
        return ""
    if words.verb in _SEND | _BIND:
        return f"its name contains {words.verb}"
    if login := words.login():
        return f"it changes who has access ({login})"
    whom = words.argument(_TO)
    return f"its argument {whom} is a recipient" if whom else ""


def _states(tool: Tool, effect: str) -> bool:
    """Whether the tool states a permission that has the effect, and be it that it needs none."""
    return any(name in tool.permissions for name in _granting(effect))


def _is_outside(path: str) -> bool:
    return (
        os.path.isabs(path)
        or path.startswith("~")
        or os.path.normpath(path).split(os.sep)[0] == ".."
    )
