"""The policy for calls in a project: what the user's configuration and the project's say of them, read from both."""

from vespe.agents.policy import Ask, CallPolicy, rules_of
from vespe.calls.path import CallPath
from vespe.errors import UsageError
from vespe.projects import project as projects


def policy_of(path: CallPath, *, policy: str = "ask", ask: Ask | None = None) -> CallPolicy:
    """Give the policy for calls in a project; raises InvalidDocument for a configuration's rule that is none.

    `policy` is one of `call_policy.POLICIES`; `ask` asks a person, and without it what would be asked is denied.
    """
    config = path.workspace.config
    places = (path.user.path, projects.config_path(path.workspace.root))
    rules = rules_of(path.user.approvals, config.document.get("approvals", {}), paths=places)
    return CallPolicy(rules, policy=policy, root=path.workspace.root, ask=ask)


def policy_for(runner: object) -> CallPolicy:
    """Give the policy of the project in which `runner` runs calls: a CallPath, or an EventSystem with one.

    Raises UsageError for any other runner, since no configuration is known that could deny a call.
    """
    path = runner if isinstance(runner, CallPath) else getattr(runner, "runner", None)
    if not isinstance(path, CallPath):
        raise UsageError(
            "say which policy decides on calls: what runs them has no project whose configuration could deny any",
            hint="policy=vespe.agents.project_policy.policy_of(project.call_path()), or give the EventSystem that call path",
        )
    return policy_of(path)
