"""A kit as a skill: https://agentskills.io/specification"""

import json
from typing import Final

from vespe.documents import strict_json
from vespe.features.packing.forms import Files, PackedKit
from vespe.models import JsonObject, Tool

_MAX_DESCRIPTION: Final = 1024
_MAX_NAME: Final = 64


def skill(kit: PackedKit) -> Files:
    """Return `NAME/SKILL.md`: when to use the kit, each tool's arguments, and how to call it."""
    return {f"{kit.dashed[:_MAX_NAME]}/SKILL.md": page(kit).encode("utf-8")}


def page(kit: PackedKit) -> str:
    """Return the text of SKILL.md."""
    tools = ", ".join(tool.name for tool in kit.tools)
    when = f"{kit.description} Use it for: {tools}." if tools else kit.description
    head = {
        "name": kit.dashed[:_MAX_NAME],
        "description": when
        if len(when) <= _MAX_DESCRIPTION
        else kit.description[: _MAX_DESCRIPTION - 1] + "…",
        "license": str(kit.document.get("license") or ""),
        "compatibility": "Needs the `vespe` command on PATH, "
        "or an MCP client that serves this kit.",
    }
    lines = [
        "---",
        *(
            f"{key}: {json.dumps(value, ensure_ascii=False)}"
            for key, value in head.items()
            if value
        ),
    ]
    lines += [
        "metadata:",
        f"  version: {json.dumps(kit.version)}",
        f"  kit: {json.dumps(kit.kit_id)}",
        "---",
        "",
    ]
    lines += [
        f"# {kit.title}",
        "",
        kit.description,
        "",
        *_how(kit),
        *(line for tool in kit.tools for line in _section(tool)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _how(kit: PackedKit) -> list[str]:
    lines = [
        "## How to call a tool",
        "",
        "Where the client shows these tools by MCP, call them by their names. "
        "Otherwise run the command, in a project where",
        f"the kit is active (`vespe kit activate {kit.kit_id}`):",
        "",
        "```sh",
        'vespe tool run NAME --json --args \'{"argument": "value"}\'',
        "```",
        "",
        "The arguments are checked before anything runs. Exit code 0 is a result; "
        "5 means that the arguments do not fit, and the",
        "message says why: mend them and call again. Do not repeat a call that may have changed "
        "something without looking first.",
        "",
    ]
    if kit.secrets:
        names = ", ".join(kit.secrets)
        lines += [
            f"These variables must be set, or be secrets of the user's configuration: {names}. "
            "Never ask for their values.",
            "",
        ]
    return lines


def _section(tool: Tool) -> list[str]:
    lines = [f"## {tool.name}", "", tool.description.strip(), ""]
    if tool.annotations.get("readOnlyHint") is True:
        lines += ["It changes nothing.", ""]
    elif tool.annotations.get("destructiveHint") is True:
        lines += ["It can destroy data: ask the user first.", ""]
    properties: JsonObject = tool.input_schema.get("properties") or {}
    needed = tool.input_schema.get("required") or []
    if properties:
        lines += ["| argument | type | |", "|---|---|---|"]
        lines += [
            _row(name, facts if isinstance(facts, dict) else {}, needed=name in needed)
            for name, facts in properties.items()
        ]
        lines += [""]
    example = next(
        (one["input"] for one in tool.examples if isinstance(one.get("input"), dict)), None
    )
    if example is not None:
        lines += ["```json", strict_json.compact_json(example), "```", ""]
    return lines


def _row(name: str, facts: JsonObject, *, needed: bool) -> str:
    said = str(facts.get("description") or "").rstrip()
    if said and said[-1] not in ".!?:;":
        said += "."
    if "default" in facts:
        said += f" Default: {strict_json.compact_json(facts['default'])}."
    elif needed:
        said += " Required."
    kind = facts.get("enum") or facts.get("type") or "any"
    shown = (
        " or ".join(map(strict_json.compact_json, kind))
        if isinstance(facts.get("enum"), list)
        else str(kind)
    )
    return f"| `{name}` | {_cell(shown)} | {_cell(said.strip())} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
