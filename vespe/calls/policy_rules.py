"""What a configuration says of calls: lists `deny`, `ask` and `allow`, by a tool's name and by
patterns of its arguments.
"""

import posixpath
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final, TypeGuard

from vespe import defaults
from vespe.calls.argument_texts import patterns_of, texts_of
from vespe.documents import strict_json
from vespe.documents.pointers import escape_pointer, steps_of
from vespe.errors import InvalidDocument, VespeError
from vespe.lazy import pattern
from vespe.models import Flow, JsonObject, JsonValue, Tool
from vespe.projects import user_config
from vespe.records import dataclass

KINDS: Final = ("deny", "ask", "allow")
"""From the strongest to the weakest: the first kind with a rule that matches decides."""
OWN_HOSTS: Final = "own_hosts"
_HOST: Final = pattern(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
FLOW: Final[tuple[Flow, ...]] = ("off", "ask", "deny")
"""What becomes of calls that send out or destroy once a model has read what strangers wrote, from
the widest to the tightest.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One entry: `tool` and each of `arguments` are patterns with `*`, any text, and `?`, any
    character; all must match.

    `tool` is matched with the name and with `scope/name`; one that allows, and names no scope, is
    about kits' tools alone: a project could take a name that is allowed for a tool of its own. An
    argument is a top-level name, and its value a text as it is, anything else as compact JSON, by
    its value (`argument_texts`); a pattern for an argument that the call does not have does not
    match. A text is also read as a
    path, with `.`, `..` and double slashes taken out: a rule that denies or asks matches where
    either fits, and one that allows where both do, if there is a `..`. `where` is the place in the
    file.
    """

    kind: str
    tool: str
    arguments: tuple[tuple[str, str], ...] = ()
    where: str = ""

    @property
    def key(self) -> str:
        """What tells this rule from others, wherever it stands."""
        return strict_json.compact_json([self.tool, dict(self.arguments)])

    def matches(self, tool: Tool, inputs: JsonObject, *, shown: str = "") -> bool:
        """Say whether the rule is about this call, with the inputs as they would run.

        One that denies or asks is also about a tool that models know by the name, `shown`: that is
        what a person sees.
        """
        named = self.names(tool.name, scope=tool.scope) or (
            self.kind != "allow" and bool(shown) and _fits(shown, self.tool)
        )
        if not named or self.spares(tool.scope):
            return False
        return all(
            name in inputs and self._about(inputs[name], pattern)
            for name, pattern in self.arguments
        )

    def names(self, name: str, *, scope: str) -> bool:
        """Say whether the rule's pattern fits a tool's name."""
        return any(_fits(full, self.tool) for full in (name, f"{scope}/{name}"))

    def spares(self, scope: str) -> bool:
        """Say whether the rule is not about this scope whatever its tools are called."""
        return self.kind == "allow" and scope == defaults.PROJECT_TOOLS and "/" not in self.tool

    def _about(self, value: JsonValue, pattern: str) -> bool:
        patterns = (pattern,) if isinstance(value, str) else patterns_of(pattern)
        return any(
            self._is_about(text, one)
            for text in texts_of(value, in_any_order=self.kind != "allow")
            for one in patterns
        )

    def _is_about(self, text: str, pattern: str) -> bool:
        as_it_is, plain = _fits(text, pattern), posixpath.normpath(text)
        if self.kind == "allow":
            return as_it_is and (".." not in text.split("/") or _fits(plain, pattern))
        return as_it_is or _fits(plain, pattern)


def read_rules(document: JsonValue, *, path: str, of_user: bool = True) -> tuple[PolicyRule, ...]:
    """Read `approvals` of a configuration; raises InvalidDocument with the JSON Pointer of what is
    no rule.

    An entry is a pattern of a tool's name, or `{"tool": PATTERN, "arguments": {NAME: PATTERN}}`.
    `flow` stands beside them (see `flow_of`), and in the user's own configuration (`of_user`)
    `own_hosts` (see `own_hosts_of`). In that the error's hint names the command that repairs it.
    """
    try:
        return _rules(document, path=path, of_user=of_user)
    except InvalidDocument as error:
        kind = steps_of(error.pointer)[1:2]
        if of_user and path and kind and "." not in kind[0]:
            is_known = kind[0] in (*KINDS, "flow", OWN_HOSTS)
            error.hint = user_config.repair_hint(f"approvals.{kind[0]}", removes=not is_known)
        raise


def _rules(document: JsonValue, *, path: str, of_user: bool) -> tuple[PolicyRule, ...]:
    if not isinstance(document, dict):
        raise InvalidDocument("must be an object", path=path, pointer="/approvals")
    for key in document:
        pointer = f"/approvals/{escape_pointer(key)}"
        if key == OWN_HOSTS and not of_user:
            raise InvalidDocument(
                "is only allowed in your own configuration, because a project cannot decide "
                f"which hosts are yours (`vespe config set approvals.{OWN_HOSTS} …`)",
                path=path,
                pointer=pointer,
            )
        if key not in (*KINDS, "flow", OWN_HOSTS):
            raise InvalidDocument(
                f"is not one of {', '.join(KINDS)}, flow", path=path, pointer=pointer
            )
    hosts = document.get(OWN_HOSTS, [])
    if not isinstance(hosts, list) or not all(map(_is_host, hosts)):
        raise InvalidDocument(
            'must be a list of hosts, such as "api.example.org" or "api.example.org:8443"',
            path=path,
            pointer=f"/approvals/{OWN_HOSTS}",
        )
    if document.get("flow", "off") not in FLOW:
        raise InvalidDocument(
            f"must be one of {', '.join(FLOW)}", path=path, pointer="/approvals/flow"
        )
    return tuple(rule for kind in KINDS for rule in _read(kind, document.get(kind, []), path))


def flow_of(own: JsonObject, *projects: JsonObject) -> Flow:
    """Return the tightest `approvals.flow` of the user's own configuration and of projects', one of
    FLOW, or "" where none says it. A project's `off` says nothing: it would turn off what the user
    has without a word.
    """
    said = [_flow_in(own), *(flow for flow in map(_flow_in, projects) if flow != "off")]
    return max((one for one in FLOW if one in said), key=FLOW.index, default="")


def _flow_in(document: JsonObject) -> JsonValue:
    rules = document.get("approvals", {})
    return rules.get("flow") if isinstance(rules, dict) else None


def own_hosts_of(approvals: JsonObject) -> tuple[str, ...]:
    """Return the hosts that the user calls their own (`host`, or `host:port`): what they answer is
    no stranger's, and what they are sent has not gone out.
    """
    given = approvals.get(OWN_HOSTS)
    return tuple(filter(_is_host, given)) if isinstance(given, list) else ()


def users_own_hosts() -> tuple[str, ...]:
    """Return the same of the user's own configuration; where that cannot be read, none: every call
    says why.
    """
    try:
        return own_hosts_of(user_config.load_user_config().approvals)
    except VespeError:
        return ()


def _is_host(value: JsonValue) -> TypeGuard[str]:
    return isinstance(value, str) and _HOST.fullmatch(value) is not None


def tightening(rules: tuple[PolicyRule, ...]) -> tuple[PolicyRule, ...]:
    """Return the rules that a project may add to its user's: what it allows does not count."""
    return tuple(rule for rule in rules if rule.kind != "allow")


def _read(kind: str, entries: JsonValue, path: str) -> Iterator[PolicyRule]:
    pointer = f"/approvals/{kind}"
    if not isinstance(entries, list):
        raise InvalidDocument("must be a list of rules", path=path, pointer=pointer)
    for index, entry in enumerate(entries):
        where = f"{pointer}/{index}"
        given = {"tool": entry} if isinstance(entry, str) else entry
        if (
            not isinstance(given, dict)
            or given.keys() - {"tool", "arguments"}
            or not isinstance(given.get("tool"), str)
        ):
            raise InvalidDocument(
                'must be a tool\'s name or {"tool": …, "arguments": {…}}', path=path, pointer=where
            )
        arguments = given.get("arguments", {})
        if not isinstance(arguments, Mapping) or not all(
            isinstance(value, str) for value in arguments.values()
        ):
            raise InvalidDocument(
                "must be an object of patterns, which are strings",
                path=path,
                pointer=f"{where}/arguments",
            )
        yield PolicyRule(
            kind=kind,
            tool=given["tool"],
            arguments=tuple(sorted(arguments.items())),
            where=f"{path}#{where}",
        )


def _fits(text: str, pattern: str) -> bool:
    return fnmatchcase(text, pattern.replace("[", "[[]"))
