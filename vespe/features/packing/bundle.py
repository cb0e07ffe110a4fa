"""A kit as an MCP bundle, which desktop clients install with a click:
https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
"""

import io
import zipfile
from typing import Final

from vespe.features.packing.forms import Files, PackedKit, as_json, serving
from vespe.models import JsonObject

_NEVER: Final = (1980, 1, 1, 0, 0, 0)
"""The date of every member: the same kit gives the same bytes."""


def bundle(kit: PackedKit) -> Files:
    """Return `NAME.mcpb`: a ZIP of the manifest and the kit; the user's machine needs `vespe`."""
    members: dict[str, bytes] = {"manifest.json": as_json(manifest(kit))} | {
        f"kits/{kit.kit_id}/{path}": data for path, data in kit.files.items()
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for path, data in sorted(members.items()):
            member = zipfile.ZipInfo(path, _NEVER)
            member.create_system = 3
            member.external_attr = (
                0o100755 if path.removeprefix(f"kits/{kit.kit_id}/") in kit.executable else 0o100644
            ) << 16
            archive.writestr(member, data)
    return {f"{kit.dashed}.mcpb": packed.getvalue()}


def manifest(kit: PackedKit) -> JsonObject:
    """Return the bundle's manifest.json; each secret is a sensitive field that the client asks for
    and keeps.
    """
    asked = {name.lower(): name for name in kit.secrets}
    entry = serving("${__dirname}/kits/" + kit.kit_id)
    if asked:
        entry["env"] = {name: f"${{user_config.{key}}}" for key, name in asked.items()}
    author = kit.document.get("author")
    document: JsonObject = {
        "manifest_version": "0.3",
        "name": kit.dashed,
        "display_name": kit.title,
        "version": kit.version,
        "description": kit.description,
        "author": author if isinstance(author, dict) else {"name": str(author or kit.title)},
        "server": {
            "type": "binary",
            "entry_point": f"kits/{kit.kit_id}/kit_config.json",
            "mcp_config": entry,
        },
        "tools": [{"name": tool.name, "description": tool.description} for tool in kit.tools],
        "compatibility": {"platforms": ["darwin", "linux"]},
    }
    document |= {key: kit.document[key] for key in ("license", "homepage") if kit.document.get(key)}
    if asked:
        document["user_config"] = {
            key: {
                "type": "string",
                "title": name,
                "description": kit.purpose(name).words or f"The secret {name}.",
                "sensitive": True,
                "required": True,
            }
            for key, name in asked.items()
        }
    return document
