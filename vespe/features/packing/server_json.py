"""A kit as the MCP registry lists servers:
https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/server-json/
"""

import hashlib
import re
from typing import Final

from vespe.errors import InvalidDocument
from vespe.features.packing.bundle import bundle
from vespe.features.packing.forms import Files, PackedKit, as_json
from vespe.models import JsonObject

SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_MAX_DESCRIPTION: Final = 100
_GITHUB: Final = re.compile(r"https://github\.com/([A-Za-z0-9-]+)/([A-Za-z0-9._-]+?)(?:\.git)?/?")


def server_json(kit: PackedKit) -> Files:
    """Return `server.json`, which names the kit's bundle in a release of its repository, with its
    digest.

    Raises InvalidDocument where kit_config.json names no repository on GitHub as its `homepage`:
    the registry's names come from there.
    """
    found = _GITHUB.fullmatch(str(kit.document.get("homepage") or ""))
    if found is None:
        reason = (
            "needs a `homepage` of the form https://github.com/OWNER/REPOSITORY: "
            "the registry's names come from there"
        )
        raise InvalidDocument(reason, path="kit_config.json", pointer="/homepage")
    ((name, data),) = bundle(kit).items()
    owner, repository = found.groups()
    package: JsonObject = {
        "registryType": "mcpb",
        "identifier": f"https://github.com/{owner}/{repository}/releases/download/v{kit.version}/{name}",
        "fileSha256": hashlib.sha256(data).hexdigest(),
        "transport": {"type": "stdio"},
    }
    if kit.secrets:
        package["environmentVariables"] = [
            {"name": secret, "isRequired": True, "isSecret": True}
            | ({"description": said} if (said := kit.purpose(secret).words) else {})
            for secret in kit.secrets
        ]
    short = (
        kit.description
        if len(kit.description) <= _MAX_DESCRIPTION
        else kit.description[: _MAX_DESCRIPTION - 1] + "…"
    )
    document: JsonObject = {
        "$schema": SCHEMA,
        "name": f"io.github.{owner}/{kit.dashed}",
        "title": kit.title,
        "description": short,
        "version": kit.version,
        "repository": {"url": f"https://github.com/{owner}/{repository}", "source": "github"},
        "packages": [package],
    }
    return {"server.json": as_json(document)}
