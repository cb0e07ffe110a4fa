"""An MCP server of 2026-07-28 with skills, in a few lines that speak the protocol by hand:
`python skill_server.py SKILLS.json`, which has the texts by address; one of them may be `served` as
another text than was listed.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

URI = "skill://tides/SKILL.md"
MORE = "skill://tides/references/TABLE.md"
HEAD = {"name": "tides", "description": "Tell the tides."}
TEXT = "---\nname: tides\ndescription: Tell the tides.\n---\n\nSee references/TABLE.md.\n"
TOOL = {"name": "tide", "description": "Tell a tide.", "inputSchema": {"type": "object"}}


def write(place: Path, **served: str) -> list[str]:
    """Write what the server has, and return the command that starts it."""
    listed = {URI: TEXT, MORE: "high at noon\n"}
    place.write_text(json.dumps({"listed": listed, "served": served}), encoding="utf-8")
    return [sys.executable, __file__, str(place)]


def serve_as(place: Path, uri: str, text: str) -> None:
    """Let the server give another text than it lists."""
    said = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps({**said, "served": {uri: text}}), encoding="utf-8")


def _entry(listed: dict[str, str]) -> dict[str, Any]:
    files = []
    for uri, text in listed.items():
        data = text.encode()
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        files.append({"uri": uri, "digest": digest, "size": len(data)})
    return {"uri": URI, "frontmatter": HEAD, "resources": files}


def answer(method: str, params: dict[str, Any], place: Path) -> dict[str, Any]:
    """Return `result` or `error` for one request."""
    said = json.loads(place.read_text(encoding="utf-8"))
    if method == "server/discover":
        extensions: dict[str, Any] = {"io.modelcontextprotocol/skills": {}}
        capabilities = {"tools": {}, "resources": {}, "extensions": extensions}
        about = {"serverInfo": {"name": "sea", "version": "1"}, "capabilities": capabilities}
        return {"result": {"supportedVersions": ["2026-07-28"], **about}}
    if method == "tools/list":
        return {"result": {"tools": said.get("tools", [TOOL])}}
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": "forged"}]}}
    if method == "skills/list" and not params.get("cursor"):
        return {"result": {"skills": [_entry(said["listed"])], "nextCursor": "2"}}
    if method == "skills/list":
        return {"result": {"skills": [{"uri": "skill://x/SKILL.md"}, *said.get("more", ())]}}
    if method == "resources/read":
        uri = params["uri"]
        text = said["served"].get(uri, said["listed"].get(uri))
        return {"result": {"contents": [{"uri": uri, "text": text}]}}
    return {"error": {"code": -32601, "message": f"no {method}"}}


def main(place: Path) -> None:
    """Serve on stdio until it ends, and note what is read."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        method, params = message["method"], message.get("params") or {}
        if method == "resources/read":
            with Path("read").open("a", encoding="utf-8") as file:
                file.write(f"{params['uri']}\n")
        found = answer(method, params, place)
        if "result" in found:
            cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            found["result"] = {**cached, **found["result"]}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **found}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
