"""Which rules are asked, how grave they are and what is let be: from the command line and a
project's configuration.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from vespe.calls import policy_rules
from vespe.calls.policy_rules import PolicyRule as CallRule
from vespe.documents.pointers import pointer_to
from vespe.errors import InvalidDocument
from vespe.features.lint import FAMILIES, RULES
from vespe.features.lint.base import AnyRule, Bounds, Found
from vespe.models import SEVERITIES, JsonObject, JsonValue, Severity
from vespe.records import dataclass

_JUDGED_AS: Final = {
    "openai-responses": "openai",
    "openresponses": "openai",
    "gemini-interactions": "gemini",
}
"""By an API without limits of its own, the one whose limits its definitions have."""
TARGETS: Final = ("openai", "anthropic", "gemini", "ollama", "mcp", *_JUDGED_AS)
_KEYS: Final = ("select", "ignore", "severity", "targets")
Wrong = tuple[str, str]
"""A pointer into a configuration and what is wrong there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What one run of lint was asked for.

    `select` and `ignore` are codes, families or beginnings of codes; no `select` is every rule.
    `targets` empty is all of them. `severities` gives rules another severity. `least` leaves out
    what is less grave. `ignored` maps codes to the reasons that a project's configuration gives;
    `tool_budget` is its bound in tokens; `guards`, `flow_guarded`, `has_project` and
    `tools_mode` are as in `Bounds`.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    least: Severity = "info"
    severities: Mapping[str, Severity] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)
    tool_budget: int | None = None
    guards: tuple[CallRule, ...] = ()
    flow_guarded: bool = False
    has_project: bool = False
    tools_mode: str = "auto"

    @property
    def bounds(self) -> Bounds:
        """What the rules over sets are told."""
        return Bounds(
            tool_budget=self.tool_budget,
            guards=self.guards,
            flow_guarded=self.flow_guarded,
            has_project=self.has_project,
            tools_mode=self.tools_mode,
        )

    @property
    def judges(self) -> frozenset[str]:
        """The APIs whose limits count for the targets."""
        return frozenset(_JUDGED_AS.get(target, target) for target in self.targets)

    def rules(self) -> Iterator[AnyRule]:
        """Return the rules to ask, in the order of their families."""
        for rule in RULES.values():
            wanted = not self.select or any(matches(selector, rule) for selector in self.select)
            aimed = not self.targets or not rule.targets or rule.targets & self.judges
            if wanted and aimed and not any(matches(selector, rule) for selector in self.ignore):
                yield rule

    def severity(self, rule: AnyRule, found: Found, *, api: str) -> Severity | None:
        """Return the severity of what a rule found in a definition of the shape `api`; None where
        it is not asked for.
        """
        about = {found.target} if found.target else rule.targets
        if about and self.targets and not about & self.judges:
            return None
        if found.severity == "info" and about == {"gemini"} and self._sends_json_schema():
            return None
        given = self.severities.get(rule.code) or found.severity or rule.severity
        # What another API refuses is no fault of a definition in this one's shape, unless it is
        # meant to go there.
        own = _JUDGED_AS.get(api, api)
        if (
            given == "error"
            and about
            and rule.code not in self.severities
            and not self.targets
            and own not in about
        ):
            given = "warning"
        return given if SEVERITIES.index(given) <= SEVERITIES.index(self.least) else None

    def _sends_json_schema(self) -> bool:
        """Whether Gemini is meant as its Interactions alone, which take any JSON Schema."""
        return "gemini-interactions" in self.targets and "gemini" not in self.targets


def matches(selector: str, rule: AnyRule) -> bool:
    """Whether a selector (a code, a family, or the beginning of a code up to a hyphen) means a
    rule.
    """
    return selector in (rule.code, rule.family) or rule.code.startswith(f"{selector}-")


def unknown(selectors: Iterable[str]) -> list[str]:
    """Return the selectors that mean no rule."""
    return [
        s
        for s in selectors
        if s not in FAMILIES and not any(matches(s, rule) for rule in RULES.values())
    ]


def ignores(document: JsonValue, *, at: str = "/lint") -> tuple[dict[str, str], list[Wrong]]:
    """Read `"lint": {"ignore": {"CODE": "reason"}}` of a document: what to let be and why, and what
    is wrong with it.
    """
    lint = document.get("lint") if isinstance(document, dict) else None
    if lint is None:
        return {}, []
    if not isinstance(lint, dict):
        return {}, [(at, "`lint` must be an object")]
    given = lint.get("ignore", {})
    if not isinstance(given, dict):
        return {}, [(f"{at}/ignore", "`lint.ignore` must be an object with a reason for each code")]
    reasons = {
        code: reason for code, reason in given.items() if isinstance(reason, str) and reason.strip()
    }
    wrong = [
        (
            f"{at}/ignore{pointer_to((code,))}",
            f"`lint.ignore` gives no reason for {code}, so it is not ignored",
        )
        for code in given
        if code not in reasons
    ]
    return reasons, wrong


def of_project(document: JsonObject, given: Settings) -> tuple[Settings, list[Wrong]]:
    """Return the settings of the command line with those of a project's config.json; the command
    line wins.
    """
    reasons, wrong = ignores(document)
    lint = document.get("lint")
    lint = lint if isinstance(lint, dict) else {}
    wrong += [
        (f"/lint{pointer_to((key,))}", f"`lint` has no key {key}; its keys are {', '.join(_KEYS)}")
        for key in lint
        if key not in _KEYS
    ]
    budget = document.get("tool_budget")
    if budget is not None and (
        isinstance(budget, bool) or not isinstance(budget, int) or budget < 1
    ):
        wrong.append(
            ("/tool_budget", "`tool_budget` must be a number of tokens, an integer above 0")
        )
        budget = None
    select = _texts(lint, "select", wrong, known=lambda text: not unknown([text]))
    targets = _texts(lint, "targets", wrong, known=lambda text: text in TARGETS)
    settings = Settings(
        select=given.select or select,
        ignore=given.ignore,
        targets=given.targets or targets,
        least=given.least,
        tools_mode=given.tools_mode,
        severities=_severities(lint, wrong),
        ignored=reasons,
        tool_budget=budget,
        has_project=True,
        **_guards(document),
    )
    return settings, wrong


def _guards(document: JsonObject) -> dict[str, Any]:
    """Return the project's rules that stand before every call of a tool; where they cannot be read
    another rule says so.
    """
    try:
        rules = policy_rules.read_rules(document.get("approvals", {}), path="", of_user=False)
    except InvalidDocument:
        return {}
    guards = tuple(rule for rule in rules if rule.kind != "allow" and not rule.arguments)
    return {"guards": guards, "flow_guarded": policy_rules.flow_of(document) in ("ask", "deny")}


def _texts(lint: JsonObject, key: str, wrong: list[Wrong], *, known: Any) -> tuple[str, ...]:
    value = lint.get(key, [])
    if not isinstance(value, list):
        wrong.append((f"/lint/{key}", f"`lint.{key}` must be a list of strings"))
        return ()
    bad = [
        index for index, item in enumerate(value) if not isinstance(item, str) or not known(item)
    ]
    wrong += [
        (f"/lint/{key}/{index}", f"`lint.{key}[{index}]` is not known to lint") for index in bad
    ]
    return tuple(item for index, item in enumerate(value) if index not in bad)


def _severities(lint: JsonObject, wrong: list[Wrong]) -> dict[str, Severity]:
    value = lint.get("severity", {})
    if not isinstance(value, dict):
        wrong.append(
            (
                "/lint/severity",
                "`lint.severity` must be an object of codes and error, warning or info",
            )
        )
        return {}
    made: dict[str, Severity] = {}
    for code, level in value.items():
        severity = next((known for known in SEVERITIES if known == level), None)
        if code in RULES and severity is not None:
            made[code] = severity
        else:
            what = "has no such rule" if code not in RULES else "must be error, warning or info"
            wrong.append((f"/lint/severity{pointer_to((code,))}", f"`lint.severity.{code}` {what}"))
    return made
