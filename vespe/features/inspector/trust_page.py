"""What the project would run, and whether it may: read-only, since the yes is given in the
terminal.
"""

from vespe.cli import tool_review
from vespe.cli.trust import changed_tools
from vespe.documents import strict_json
from vespe.features.inspector.page import Page, Visit
from vespe.projects import project
from vespe.trust import review
from vespe.trust.review import ToolReview

_KINDS = {
    "place": "You created this project, or trusted its directory: its files may change, and it "
    "still runs.",
    "content": "You approved exactly these bytes. A change under .vespe/tools or an "
    "additional active kit revokes the approval.",
    "environment": "VESPE_TRUSTED_PATHS contains a parent directory of it.",
    "flag": "You started this inspector so that it trusts the project.",
}


def _facts(tool: ToolReview) -> list[tuple[str, str]]:
    facts = tool_review.facts_of(tool, place=tool.directory)
    return [
        (label, value if isinstance(value, str) else strict_json.compact_json(value))
        for label, value in facts
    ]


def show(visit: Visit) -> Page:
    """Return the review that `vespe trust` shows before it asks."""
    shown = review.review(project.read_config(visit.project.root))
    changes = changed_tools(shown)
    tools = [(tool, _facts(tool), changes.pop(tool.uid, None)) for tool in shown.tools]
    grant = visit.project.trusted_as()
    context = {
        "shown": shown,
        "tools": tools,
        "gone": tuple(changes.values()),
        "grant": grant,
        "means": _KINDS.get(grant, ""),
    }
    return Page(
        template="trust.html",
        title="Trust",
        context=context | {"lines_of_change": tool_review.lines_of_change},
    )
