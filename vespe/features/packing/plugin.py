"""A kit as a plugin of Claude Code, Codex, Cursor and Gemini CLI: one directory with a manifest for
each.

https://code.claude.com/docs/en/plugins-reference,
https://developers.openai.com/codex/plugins/build, https://cursor.com/docs/reference/plugins,
https://geminicli.com/docs/extensions/reference/

Each client has a word of its own for where a plugin is, and Codex has none
(https://github.com/openai/codex/issues/35762): its server starts in the plugin's directory instead.
What stands in `env` there is not filled in; `env_vars` names what is passed on.
"""

from collections.abc import Sequence
from typing import Final

from vespe.features.packing.forms import Files, PackedKit, as_json, serving
from vespe.features.packing.skill import skill
from vespe.models import JsonObject

_BOUNDED: Final = ("--results", "bounded")
"""For clients that give their model the structured content of a result, as `vespe connect` writes
it for them (`features/mcp/clients/table.py`).
"""


def plugin(kit: PackedKit) -> Files:
    """Return the plugin: the kit itself in `kits/`, its skill, its MCP server for each client, and
    the four manifests.
    """
    manifest: JsonObject = {
        "name": kit.dashed,
        "version": kit.version,
        "description": kit.description,
    }
    manifest |= {key: kit.document[key] for key in ("license", "homepage") if kit.document.get(key)}
    if author := kit.document.get("author"):
        manifest["author"] = author if isinstance(author, dict) else {"name": str(author)}

    def servers(
        root: str, variable: str = "${%s}", *, options: Sequence[str] = (), **more: object
    ) -> JsonObject:
        given: JsonObject = (
            {"env": {name: variable % name for name in kit.secrets}}
            if kit.secrets and variable
            else {}
        )
        return {
            "mcpServers": {
                kit.dashed: serving(f"{root}kits/{kit.kit_id}", more=options) | given | more
            }
        }

    codex = servers(
        "",
        "",
        options=_BOUNDED,
        cwd=".",
        **({"env_vars": list(kit.secrets)} if kit.secrets else {}),
    )
    relative = {"skills": "./skills/", "mcpServers": "./codex-mcp.json"}
    gemini = {key: manifest[key] for key in ("name", "version", "description")} | servers(
        "${extensionPath}/"
    )
    return {
        ".claude-plugin/plugin.json": as_json(manifest | {"displayName": kit.title}),
        ".codex-plugin/plugin.json": as_json(
            manifest | relative | {"interface": {"displayName": kit.title}}
        ),
        ".cursor-plugin/plugin.json": as_json(
            manifest | {"displayName": kit.title, "mcpServers": "./mcp.json"}
        ),
        ".mcp.json": as_json(servers("${CLAUDE_PLUGIN_ROOT}/", options=_BOUNDED)),
        "mcp.json": as_json(servers("${CURSOR_PLUGIN_ROOT}/", "${env:%s}")),
        "codex-mcp.json": as_json(codex),
        "gemini-extension.json": as_json(gemini),
        **{f"skills/{path}": data for path, data in skill(kit).items()},
        **{f"kits/{kit.kit_id}/{path}": data for path, data in kit.files.items()},
    }
