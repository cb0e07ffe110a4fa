"""What the verbs that make kits of MCP servers show before they ask, and the questions that they
ask.
"""

from collections.abc import Iterable, Mapping, Sequence

from vespe.cli import options, report, review_words
from vespe.kits import mcp_kits
from vespe.kits.client_files import ServerEntry
from vespe.kits.mcp_kits import KitDraft
from vespe.lazy import shlex
from vespe.models import JsonObject, JsonValue
from vespe.tools import mcp_definitions, mcp_skills

_START = "start this server with your permissions"


def announce(server: JsonObject) -> None:
    """Say how a server is reached, before it is."""
    doing = "connect to this server" if "url" in server else _START
    report.say(f"Calls will {doing}: {review_words.server_of(server)}")
    for key in ("headers", "env", "secrets"):
        if key in server:
            report.say(f"  {key:<8} {_listed(server[key])}")
    for key, paths in mcp_kits.permissions_of(server).items():
        report.say(f"  {key:<8} {_listed(paths)}")


def _listed(value: JsonValue) -> str:
    """Say a list of names or paths, or an object by its members, on one line."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return report.one_line(shlex.join(map(str, value)))
    return report.one_line(review_words.details(value))


def confirm_start(server: JsonObject, *, yes: bool) -> None:
    """Ask before a server is started, or connected to."""
    options.confirm(
        "Start it now to list its tools?"
        if "command" in server
        else "Connect to it now to list its tools?",
        yes=yes,
        listed=True,
    )


def confirm_entries(entries: Sequence[ServerEntry], *, yes: bool) -> None:
    """Announce the servers of a file, and ask before any of them is started."""
    for entry in entries:
        report.say(f"\n{report.one_line(entry.name)}, as the kit {entry.kit_id}")
        announce(entry.server)
        for note in entry.notes:
            report.say(f"  {report.one_line(note)}")
    if entries:
        options.confirm(
            f"Start or connect to {report.count(len(entries), 'server')} now to list their tools?",
            yes=yes,
            listed=True,
        )


def asking(kit_id: str) -> str:
    """Return the line that is shown while a server is asked."""
    return f"asking the server of {kit_id} for its tools"


def approve(
    draft: KitDraft,
    before: Mapping[str, JsonObject],
    *,
    update: bool,
    yes: bool,
    known: JsonObject | None = None,
) -> tuple[str, ...]:
    """Show a kit, ask, and write it; in an `update` only what changed since `before`, and since the
    server `known`, which is returned in lines.
    """
    changes = tuple(mcp_definitions.changes(before, draft.definitions)) if update else ()
    if update:
        former = mcp_kits.known_skills(draft.kit_id, known or draft.server)
        changes += tuple(mcp_skills.changes(former, draft.skills))
    if update and known is not None and known.get("write") != draft.server.get("write"):
        changes += (f"may write {report.json_line(draft.server['write'])}",)
    for line in changes:
        report.say(report.one_line(line))
    _show(draft, tools=() if update else draft.tools.values())
    if not update or changes:
        options.confirm(
            "Approve what changed?"
            if update
            else f"Approve {report.count(len(draft.tools), 'tool')}?",
            yes=yes,
            listed=True,
        )
        mcp_kits.write(draft)
    return changes


def approve_all(drafts: Sequence[KitDraft], *, yes: bool) -> None:
    """Show the kits of several servers, ask once, and write them."""
    for draft in drafts:
        report.say(f"\nthe kit {draft.kit_id}")
        _show(draft, tools=draft.tools.values())
    if drafts:
        total = sum(len(draft.tools) for draft in drafts)
        options.confirm(
            f"Approve {report.count(total, 'tool')} of {report.count(len(drafts), 'server')}?",
            yes=yes,
            listed=True,
        )
    for draft in drafts:
        mcp_kits.write(draft)


def _show(draft: KitDraft, *, tools: Iterable[JsonObject]) -> None:
    """Print what would be approved, complete and inert: it is what the question is about."""
    for tool in tools:
        report.say(f"\n{report.one_line(tool['name'])}")
        report.say(f"  {report.one_line(tool['description'])}")
        for index, line in enumerate(review_words.inputs_of(tool["schema"]["input"])):
            report.say(f"  {'' if index else 'takes':<6} {report.one_line(line)}")
        if says := review_words.hints_of(tool.get("annotations")):
            report.say(f"  says   {report.one_line(says)}")
    if tools and draft.skills.skills:
        report.say("\nskills, which are read only when one is loaded")
        for line in mcp_skills.changes(mcp_skills.NONE, draft.skills):
            report.say(f"  {report.one_line(line.removeprefix('+ skill '))}")
    for sentence in draft.left_out:
        report.warn(report.one_line(sentence))
