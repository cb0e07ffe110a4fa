"""A kit as a plugin of Claude Code, Codex, Cursor and Gemini CLI: one directory with a manifest for each.

https://code.claude.com/docs/en/plugins-reference, https://developers.openai.com/codex/plugins/build,
https://cursor.com/docs/plugins/building, https://geminicli.com/docs/extensions/reference/
"""

from vespe.kits.packing.forms import Files, PackedKit, as_json, serving
from vespe.kits.packing.skill import skill
from vespe.models import JsonObject


def plugin(kit: PackedKit) -> Files:
    """Return the plugin: the kit itself in `kits/`, its skill, its MCP server for each client, and the four manifests."""
    manifest: JsonObject = {"name": kit.dashed, "version": kit.version, "description": kit.description}
    manifest |= {key: kit.document[key] for key in ("license", "homepage") if kit.document.get(key)}
    if author := kit.document.get("author"):
        manifest["author"] = author if isinstance(author, dict) else {"name": str(author)}
    given = {"env": {name: f"${{{name}}}" for name in kit.secrets}} if kit.secrets else {}

    def servers(root: str) -> JsonObject:
        return {kit.dashed: serving(f"{root}/kits/{kit.kit_id}") | given}

    relative = {"skills": "./skills/", "mcpServers": "./.mcp.json"}
    claude = manifest | {"displayName": kit.title}
    gemini = {key: manifest[key] for key in ("name", "version", "description")} | {"mcpServers": servers("${extensionPath}")}
    return {
        ".claude-plugin/plugin.json": as_json(claude),
        ".codex-plugin/plugin.json": as_json(manifest | relative | {"interface": {"displayName": kit.title}}),
        ".cursor-plugin/plugin.json": as_json(manifest),
        ".mcp.json": as_json({"mcpServers": servers("${CLAUDE_PLUGIN_ROOT}")}),
        "gemini-extension.json": as_json(gemini),
        **{f"skills/{path}": data for path, data in skill(kit).items()},
        **{f"kits/{kit.kit_id}/{path}": data for path, data in kit.files.items()},
    }
