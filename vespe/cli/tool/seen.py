"""The tools of a project as models see them, for `vespe tool list --as-models`."""

from collections.abc import Mapping, Sequence

from vespe.calls.policy_rules import users_own_hosts
from vespe.models import JsonObject, Tool
from vespe.projects.resolver import Row
from vespe.projects.workspace import Workspace
from vespe.records import dataclass, json_of
from vespe.tools.effects import effects_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A tool as models see it; `exposed` is how, "-" for as the rest is, and `effects` are what a
    call of it may do, each with the reason.
    """

    tool: Tool
    exposed: str
    effects: Mapping[str, str]

    @property
    def itself(self) -> str:
        """The tool that it is, by its scope and its own name."""
        return f"{self.tool.scope}/{self.tool.itself.name}"

    def to_json(self) -> JsonObject:
        """Return it as `tool list --as-models --json` prints it."""
        behind = self.tool.behind
        return {
            "name": self.tool.name,
            "is": self.itself,
            **json_of(self.tool, "uid", "description"),
            "effects": {**self.effects},
            "input_schema": self.tool.input_schema,
            "preset": behind.preset if behind else {},
            "hidden": sorted(behind.hidden) if behind else [],
            "expose": None if self.exposed == "-" else self.exposed,
        }


def seen_by_models(workspace: Workspace, rows: Sequence[Row]) -> tuple[list[Seen], Sequence[str]]:
    """Return the available tools as `tools` of the project's config.json shows them to models,
    `never` exposed ones left out, and a sentence on each that cannot be shown.
    """
    available = [row for row in rows if row.status == "available"]
    shown = workspace.shown([workspace.load(row.entry) for row in available])
    view, own_hosts = workspace.view, users_own_hosts()
    found = [
        Seen(
            tool=tool,
            exposed=view.exposure(tool.itself) or "-",
            effects=effects_of(tool, own_hosts=own_hosts),
        )
        for tool in shown.tools.values()
    ]
    return found, shown.left_out
