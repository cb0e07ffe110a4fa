"""Whether a call may run: deny over ask over allow, from both configurations, the command line and
a person's answers.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Final, TypeAlias

from vespe import defaults
from vespe.calls import policy_answers
from vespe.calls.path import CallPath, itself
from vespe.calls.policy_answers import KeptAnswer
from vespe.calls.policy_rules import (
    PolicyRule,
    flow_of,
    own_hosts_of,
    read_rules,
    tightening,
)
from vespe.calls.previews import Preview, previewing
from vespe.calls.program_place import CallWaits, current_place, waiting_for_person
from vespe.calls.taint import Taint as Taint
from vespe.documents.near import suggest
from vespe.errors import InvalidArguments, UsageError
from vespe.models import Approve, Flow, Holds, JsonObject, JsonValue, Tool
from vespe.projects import project as projects
from vespe.records import dataclass
from vespe.tools.effects import effects_of

POLICIES: Final[tuple[Approve, ...]] = ("ask", "read-only", "all", "none")
"""`ask` asks for what is not read-only; `read-only` denies it instead; `all` allows it; `none`
denies every call.
"""
_AFTER: Final = "approvals.flow"
_MAY: Final = {
    "sends_out": "may send data to others",
    "destructive": "may delete or overwrite data",
}
_MAY_CHANGE: Final = "may change something"
ONCE: Final = "once"
SESSION: Final = "session"
PROJECT: Final = "project"
IN_PROGRAM: Final = "program"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A call that needs approval: the tool, its inputs, and why you are asked, in a clause such as
    "it is not marked read-only and may change something".

    `origins` shows where arguments come from, if the conversation is known: `{"recipient": "from
    a result of read_inbox, not from your messages"}`. `previews` show what the call would do, if
    its project is known: the command, the request, the change to a file. `program` is the line of
    the program that makes the call, or "". `vespe.calls.question_texts` converts a question to
    text.

    ```python
    from vespe import Agent, AgentOptions, Answer, Question, SimulatedProvider, Toolset

    def double(n: int) -> int:
        \"""Double a number.\"""
        return 2 * n

    def small_ones(question: Question) -> Answer:
        return Answer(allowed=question.inputs["n"] < 100)

    turn = {"tool_calls": [{"name": "double", "arguments": {"n": 21}}]}
    model = SimulatedProvider({"turns": [turn, {"text": "Done."}]})
    options = AgentOptions(ask=small_ones)
    run = Agent(model, tools=Toolset(double), options=options).run("Double 21.")
    assert run.calls[0].outcome.result == 42
    ```
    """

    tool: Tool
    inputs: JsonObject
    why: str
    origins: Mapping[str, str] = field(default_factory=dict)
    previews: tuple[Preview, ...] = ()
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to a question, and how long it applies: `once`, for the `session`, for the
    `project`, or for the `program` that makes the call.
    """

    allowed: bool
    holds: Holds = ONCE


Ask: TypeAlias = Callable[[Question], Answer]
"""Asks a person; without one, what would be asked is denied."""


class CallPolicy:
    """Decides whether calls may run. Thread-safe; questions are asked one at a time.

    `rules` are those of the configurations, and `policy` is `ask`, `read-only`, `all` or `none`.
    With `root`, answers for the project are stored. A call is decided in this order: it is denied
    if any rule or answer denies it; you are asked if a rule asks and no earlier answer applies; it
    is allowed if a rule, an answer or the policy allows it, or if the tool is read-only. Otherwise
    you are asked.

    `flow` applies after the model has read untrusted content (`taint`): calls that send data out or
    destroy data then need a question or are denied. If it is "", they need a question unless they
    are read-only, a rule allows them, or the policy is `all`.

    ```python
    from vespe import Answer, CallPolicy, Tool

    tool = Tool(uid="", name="send", description="Send it.", input_schema={"type": "object"})
    asked = CallPolicy(ask=lambda question: Answer(allowed=question.inputs == {"to": "me"}))
    assert asked.why_not(tool, {"to": "me"}) == ""
    assert "denied" in asked.why_not(tool, {"to": "all"})
    ```
    """

    def __init__(
        self,
        rules: Iterable[PolicyRule] = (),
        *,
        policy: Approve = "ask",
        root: str | None = None,
        ask: Ask | None = None,
        flow: Flow = "",
        taint: Taint | None = None,
    ) -> None:
        if policy not in POLICIES:
            raise UsageError(
                f"{policy!r} is not a policy for calls; choose one of {', '.join(POLICIES)}",
                hint=suggest(policy, POLICIES),
            )
        self._rules = tuple(rules)
        self._policy, self._root, self._ask = policy, root, ask
        self._flow, self._taint = flow, taint or Taint()
        self.preview: Callable[[Tool, JsonObject], tuple[Preview, ...]] | None = None
        """Says what a call would do, for its question; `policy_of` sets it."""
        self._said: list[KeptAnswer] = []
        self._lock = threading.Lock()

    @property
    def allows_all(self) -> bool:
        """Whether currently no rule or answer denies or asks for any call. Raises StorageError."""
        flows = self._flow in ("ask", "deny")
        return (
            self._policy == "all"
            and not self._rules
            and not flows
            and not (self._root and policy_answers.load(self._root))
        )

    def why_not(self, tool: Tool, inputs: JsonObject) -> str:
        """Return why a call may not run, in words for the model, or "" if it may. The user may be
        asked. Raises StorageError.
        """
        shown = tool.name
        if tool.behind is not None:
            tool, inputs = itself(tool, inputs)
        with self._lock:
            return self._why_not(tool, inputs, shown)

    def saw(self, tool: Tool) -> None:
        """Record that a model gets a result of this tool."""
        self._taint.note(tool)

    def heard(self, said: JsonValue, *, tool: str = "") -> None:
        """Record a result of the tool with that name, or without `tool` a message of the user, so
        that a question can show where the arguments of a call come from.
        """
        self._taint.heard(said, tool=tool)

    def _why_not(self, tool: Tool, inputs: JsonObject, shown: str) -> str:
        about = self._about(tool)
        if why := self._denied(tool, inputs, about, shown) or (
            "no calls are allowed here" if self._policy == "none" else ""
        ):
            return why
        asking = self._rule("ask", tool, inputs, shown)
        if asking is None and (risk := self._risk(tool, inputs)):
            if self._flow == "deny":
                return f"{tool.name!r} {risk}"
            asking = PolicyRule(kind="ask", tool=_AFTER, where=risk)
        if not self._open(tool, inputs, asking):
            return ""
        if any(self._holds(answer, tool, asking) for answer in about):
            return ""
        return self._asked(tool, inputs, asking)

    def _risk(self, tool: Tool, inputs: JsonObject) -> str:
        """Say what a call could do with what strangers wrote, where that is asked for; else ""."""
        if not self._taint.by or self._flow == "off":
            return ""
        if not self._flow and self._free(tool, inputs):
            return ""
        found = effects_of(tool, own_hosts=self._taint.own_hosts)
        does = next((words for effect, words in _MAY.items() if effect in found), "")
        return (
            f"{does}, and the model has read untrusted content (from `{self._taint.by}`)"
            if does
            else ""
        )

    def _free(self, tool: Tool, inputs: JsonObject) -> bool:
        """Whether a call needs nobody's word, unless a rule asks for one; a function of the program
        that calls is its own to run.
        """
        if self._policy == "all" or tool.annotations.get("readOnlyHint") is True:
            return True
        # a tool on disk cannot pass for one
        own = tool.scope == defaults.PROGRAM and tool.directory is None
        return own or any(
            rule.kind == "allow" and rule.matches(tool, inputs) for rule in self._rules
        )

    def why_never(self, tool: Tool) -> str:
        """Return why a rule or an answer denies every call of a tool, or "" if none or only some
        calls are denied. Raises StorageError.
        """
        with self._lock:
            return self._denied(tool.itself, {}, self._about(tool.itself), tool.name)

    def denied_by(self, tool: Tool) -> str:
        """Return what denies every call of a tool: the place of a rule (`FILE#/approvals/deny/0`),
        or "answer" for an earlier answer. Return "" if none or only some calls are denied. Raises
        StorageError.
        """
        with self._lock:
            rule = self._rule("deny", tool.itself, {}, tool.name)
            if rule is not None:
                return rule.where
            return "answer" if self._denied(tool.itself, {}, self._about(tool.itself), "") else ""

    def not_denied(self, tools: Iterable[Tool]) -> list[Tool]:
        """Return the tools for which `why_never` is "". The stored answers are read only once.
        Raises StorageError.
        """
        with self._lock:
            kept = self._kept()
            return [
                tool
                for tool in tools
                if not self._denied(tool.itself, {}, _of_tool(kept, tool.itself), tool.name)
            ]

    def why_not_as_given(self, tool: Tool, arguments: JsonObject) -> str:
        """Do the same as `why_not` for arguments as the caller passed them. Invalid arguments are
        not judged, because such a call never runs.
        """
        try:
            whole, inputs = itself(tool, arguments)
        except InvalidArguments:
            return ""
        with self._lock:
            return self._why_not(whole, inputs, tool.name)

    def _about(self, tool: Tool) -> list[KeptAnswer]:
        return _of_tool(self._kept(), tool)

    def _kept(self) -> tuple[KeptAnswer, ...]:
        return (*self._said, *(policy_answers.load(self._root) if self._root else ()))

    def _denied(self, tool: Tool, inputs: JsonObject, about: list[KeptAnswer], shown: str) -> str:
        if self._rule("deny", tool, inputs, shown) is not None:
            return f"the configuration denies this call of {tool.name!r}"
        if any(not answer.allowed for answer in about):
            return f"the user has denied calls of {tool.name!r}"
        return ""

    def _rule(self, kind: str, tool: Tool, inputs: JsonObject, shown: str) -> PolicyRule | None:
        return next(
            (
                rule
                for rule in self._rules
                if rule.kind == kind and rule.matches(tool, inputs, shown=shown)
            ),
            None,
        )

    def _open(self, tool: Tool, inputs: JsonObject, asking: PolicyRule | None) -> bool:
        """Whether a person's word is needed."""
        if asking is not None:
            return True
        return not self._free(tool, inputs)

    @staticmethod
    def _holds(answer: KeptAnswer, tool: Tool, asking: PolicyRule | None) -> bool:
        same = answer.allowed and answer.rule == (asking.key if asking else "")
        return same and bool(answer.digest) and answer.digest == policy_answers.digest_of(tool)

    def _asked(self, tool: Tool, inputs: JsonObject, asking: PolicyRule | None) -> str:
        why = _why(tool, asking)
        place = current_place()
        alike = policy_answers.subject(tool), asking.key if asking else ""
        if place is not None and (said := place.answers.get(alike)) is not None:
            return "" if said else f"the user has denied calls of {tool.name!r} in this program"
        if place is not None and place.waits and self._ask is None and self._policy != "read-only":
            raise CallWaits(f"{tool.name!r} needs approval because {why}")
        if self._policy == "read-only" or self._ask is None:
            after = f": {why}" if asking is not None and asking.tool == _AFTER else ""
            return (
                f"calls of {tool.name!r} need the user's approval, but there is no one to ask "
                f"here{after}"
            )
        origins = self._taint.origins(inputs)
        previews = () if self.preview is None else self.preview(tool, inputs)
        question = Question(
            tool=tool,
            inputs=inputs,
            why=why,
            origins=origins,
            previews=previews,
            program=place.said if place is not None else "",
        )
        with waiting_for_person():
            answer = self._ask(question)
        if isinstance(answer, Answer) and answer.holds == IN_PROGRAM and place is not None:
            place.answers[alike] = answer.allowed
        elif not isinstance(answer, Answer) or answer.holds not in (ONCE, SESSION, PROJECT):
            raise UsageError(
                "the function that approves calls must return a vespe.Answer that holds once, "
                f"session or project, not {answer!r:.80}",
                hint='return Answer(allowed=True), or Answer(allowed=False, holds="session")',
            )
        if answer.holds in (SESSION, PROJECT):
            self._keep(tool, answer, asking)
        return "" if answer.allowed else f"the user has denied this call of {tool.name!r}"

    def _keep(self, tool: Tool, answer: Answer, asking: PolicyRule | None) -> None:
        kept = KeptAnswer(
            tool=policy_answers.subject(tool),
            allowed=answer.allowed,
            digest=policy_answers.digest_of(tool),
            rule=asking.key if asking else "",
        )
        self._said.append(kept)
        if answer.holds == PROJECT and self._root is not None:
            policy_answers.keep(self._root, kept)


def _of_tool(kept: Iterable[KeptAnswer], tool: Tool) -> list[KeptAnswer]:
    return [answer for answer in kept if answer.tool == policy_answers.subject(tool)]


def _why(tool: Tool, asking: PolicyRule | None) -> str:
    if asking is None:
        found = effects_of(tool)
        may = next((words for effect, words in _MAY.items() if effect in found), _MAY_CHANGE)
        return f"it is not marked read-only and {may}"
    if asking.tool == _AFTER:
        return f"it {asking.where}"
    return f"a rule of the configuration asks before calls of `{asking.tool}`"


def rules_of(
    user: JsonObject, project: JsonObject, *, paths: tuple[str, str] = ("", "")
) -> tuple[PolicyRule, ...]:
    """Return the rules of the user's `approvals` and of the project's, which can only deny and ask.

    `paths` are the two files, for the sentence of the InvalidDocument that this raises for what is
    no rule.
    """
    ours = read_rules(project, path=paths[1], of_user=False)
    return (*read_rules(user, path=paths[0]), *tightening(ours))


def policy_of(
    path: CallPath, *, policy: Approve = "ask", ask: Ask | None = None, taint: Taint | None = None
) -> CallPolicy:
    """Return the policy for calls in a project; raises InvalidDocument for a configuration's rule
    that is none.

    `ask` asks a person; without it, what would be asked is denied.
    """
    config = path.workspace.config
    places = (path.user.path, projects.config_path(path.workspace.root))
    rules = rules_of(path.user.approvals, config.document.get("approvals", {}), paths=places)
    flow = flow_of({"approvals": path.user.approvals}, config.document)
    taint = taint or Taint()
    taint.own_hosts = own_hosts_of(path.user.approvals)
    made = CallPolicy(
        rules, policy=policy, root=path.workspace.root, ask=ask, flow=flow, taint=taint
    )
    made.preview = previewing(path)
    return made


def clients_policy(
    path: CallPath, *, ask: str | Ask = "deny", taint: Taint | None = None
) -> CallPolicy | None:
    """Return the policy for calls of a client that asks its own user, or None where there is no
    rule and no answer.

    What is denied stays denied; what a rule asks for is denied, with `ask` "allow" allowed, or
    asked of what else `ask` is.
    """
    if isinstance(ask, str) and ask not in ("deny", "allow"):
        raise UsageError(
            f"{ask!r} is not a valid default for calls that a rule asks about; choose deny or allow"
        )
    answers = {"deny": None, "allow": lambda question: Answer(allowed=True)}
    asked = answers[ask] if isinstance(ask, str) else ask
    policy = policy_of(path, policy="all", ask=asked, taint=taint)
    return None if policy.allows_all else policy


def policy_for(runner: object) -> CallPolicy:
    """Return the policy of the project in which `runner` runs calls: a CallPath, or an EventSystem
    with one.

    Raises UsageError for any other runner, since no configuration is known that could deny a call.
    """
    path = runner if isinstance(runner, CallPath) else getattr(runner, "runner", None)
    if not isinstance(path, CallPath):
        raise UsageError(
            "no policy decides about these calls, because they do not belong to a project with a "
            "configuration",
            hint="policy=vespe.calls.policy.policy_of(project.call_path()), "
            "or give the EventSystem that call path",
        )
    return policy_of(path)
