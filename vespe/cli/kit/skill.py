"""`vespe kit skill`: the skills of an MCP server's kit, and one file of one."""

import click

from vespe import errors
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.cli import kit_facts, options, outcomes, questions, report, tables
from vespe.cli.waiting import waiting
from vespe.kits import mcp_kits, mcp_snapshots, roots
from vespe.models import Call, Kit, Tool
from vespe.projects.workspace import open_workspace
from vespe.tools import catalog, directory, mcp_skills
from vespe.tools.mcp_skills import ServerSkills


@click.command("skill", epilog="Example: vespe kit skill pdf pdf-processing")
@click.argument("kit_id", metavar="KIT")
@click.argument("name", metavar="[NAME]", required=False)
@click.argument("file", metavar="[FILE]", required=False, default=mcp_skills.MAIN)
@options.trust_option
@options.project_option
@options.json_option
def command(
    kit_id: str,
    name: str | None,
    file: str,
    trusted: bool,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """Read a skill of an MCP server, or list the server's skills.

    NAME is a skill of the kit that `vespe kit add-mcp` made of the server, and FILE one of its
    files; the default is SKILL.md. The server is asked for the file, which is shown only if it is,
    byte for byte, what you approved. Without NAME, nothing is read and the server is not asked.
    """
    root = kit_facts.root_if_any(project_dir)
    kit = mcp_kits.find(kit_id, root)
    if kit is None:
        roots.find_kit(kit_id, project=root)  # says where there is no kit of that name at all
    found = mcp_skills.NONE if kit is None else mcp_snapshots.skills_at(kit.path)
    if kit is None or (not found.skills and name is not None):
        raise errors.NotFound(
            f"the kit {kit_id} has no skills of an MCP server",
            hint=""
            if kit is None
            else f"`vespe kit add-mcp {kit_id} --update` asks its server for them",
        )
    if name is None:
        _list(kit_id, found, as_json)
        return 0
    if name not in found.skills:
        raise errors.NotFound(
            f"the kit {kit_id} has no skill {name!r}",
            hint=f"`vespe kit skill {kit_id}` lists its skills",
        )
    path = CallPath(
        workspace=open_workspace(project_dir),
        registry=ToolRegistry(),
        trusted=trusted,
        progress=report.note,
        asker=questions.asker(),
    )
    tool = _reader(kit, found)
    with waiting(f"reading {name}"):
        outcome = path.run_tool(tool, Call(tool=tool.uid, arguments={"skill": name, "file": file}))
    return outcomes.answer(outcome, as_json=as_json, part="text")


def _list(kit_id: str, found: ServerSkills, as_json: bool) -> None:
    if as_json:
        skills = [
            {
                "name": name,
                "uri": skill["uri"],
                "description": skill["frontmatter"]["description"],
                "files": list(skill["files"]),
            }
            for name, skill in found.skills.items()
        ]
        report.emit_json({"kit_id": kit_id, "tool": found.tool, "skills": skills})
    elif not found.skills:
        report.note(f"the server of {kit_id} listed no skills the last time it was asked")
    else:
        tables.show(
            ("SKILL", "FILES", "DESCRIPTION"),
            [
                (name, str(len(skill["files"])), skill["frontmatter"]["description"])
                for name, skill in found.skills.items()
            ],
        )


def _reader(kit: Kit, found: ServerSkills) -> Tool:
    for entry in catalog.scan(kit.path, scope=kit.kit_id, kit_id=kit.kit_id).values():
        if entry.name == found.tool:
            tool = directory.load(entry.path, scope=kit.kit_id, kit_id=kit.kit_id)
            # A tool of the server's own that is called so reads nothing that was approved.
            if tool.implementation is not None and tool.implementation.args.get("skills"):
                return tool
    raise errors.NotFound(
        f"the kit {kit.kit_id} no longer has the tool that reads its skills",
        hint=f"`vespe kit add-mcp {kit.kit_id} --update` makes it again",
    )
