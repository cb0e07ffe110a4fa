"""An MCP server of 2026-07-28 whose calls become tasks, in a few lines that speak the protocol by
hand: `python task_server.py NOTES`, where it notes each request about a task.
"""

import json
import sys
from pathlib import Path
from typing import Any

AGE = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
NAMES = ("works", "asks", "asks_twice", "never", "fails", "forgets", "is_cancelled", "samples")
TEXT = {"content": [{"type": "text", "text": "done"}]}


def definition(name: str) -> dict[str, Any]:
    """What the server lists of a tool."""
    return {"name": name, "description": f"A task that {name}.", "inputSchema": {"type": "object"}}


def _ask(text: str) -> dict[str, Any]:
    params = {"mode": "form", "message": text, "requestedSchema": AGE}
    return {"method": "elicitation/create", "params": params}


class Tasks:
    """The tasks by their ids, which are the names of their tools."""

    def __init__(self) -> None:
        self.looks: dict[str, int] = {}
        self.replies: dict[str, Any] = {}

    def state(self, name: str) -> dict[str, Any]:
        """Return what `tasks/get` says."""
        self.looks[name] = self.looks.get(name, 0) + 1
        if name == "works" and self.looks[name] > 2:
            return {"status": "completed", "result": TEXT}
        if name in ("asks", "asks_twice"):
            wanted = ["first", "second"][: 1 + (name == "asks_twice")]
            left = {
                key: _ask(f"How old is the {key}?") for key in wanted if key not in self.replies
            }
            if left:
                return {"status": "input_required", "inputRequests": left}
            said = {"content": [{"type": "text", "text": json.dumps(self.replies, sort_keys=True)}]}
            return {"status": "completed", "result": said}
        if name == "fails":
            return {"status": "failed", "error": {"code": -32603, "message": "out of paper"}}
        if name == "is_cancelled":
            return {"status": "cancelled"}
        if name == "samples":
            asked = {"one": {"method": "sampling/createMessage", "params": {}}}
            return {"status": "input_required", "inputRequests": asked}
        return {"status": "working"}


def _task(name: str, said: dict[str, Any]) -> dict[str, Any]:
    moment = "2026-07-28T00:00:00Z"
    times = {"createdAt": moment, "lastUpdatedAt": moment, "ttlMs": 60_000}
    return {"taskId": name, **times, "pollIntervalMs": 20, **said}


def answer(method: str, params: dict[str, Any], tasks: Tasks) -> dict[str, Any]:
    """Return `result` or `error` for one request."""
    cached = {"ttlMs": 0, "cacheScope": "private"}
    identifier = params.get("taskId", "")
    if method == "server/discover":
        about = {"serverInfo": {"name": "tasks", "version": "1"}, "capabilities": {"tools": {}}}
        return {"result": {"supportedVersions": ["2026-07-28"], **about, **cached}}
    if method == "tools/list":
        return {"result": {"tools": [definition(name) for name in NAMES], **cached}}
    if method == "tools/call":
        said = params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        if "io.modelcontextprotocol/tasks" not in said.get("extensions", {}):
            return {"result": {"content": [{"type": "text", "text": "no tasks"}]}}
        made = _task(params["name"], {"status": "working"})
        return {"result": made | {"resultType": "task"}}
    if method == "tasks/get" and identifier != "forgets":
        return {"result": _task(identifier, tasks.state(identifier))}
    if method == "tasks/update":
        tasks.replies.update(params["inputResponses"])
        return {"result": {}}
    if method == "tasks/cancel":
        return {"result": {}}
    code = -32602 if method == "tasks/get" else -32601
    return {"error": {"code": code, "message": f"no {identifier or method}"}}


def main(notes: Path) -> None:
    """Serve on stdio until it ends."""
    tasks = Tasks()
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message["method"], message.get("params") or {}
        if "id" not in message:
            continue
        if method.startswith("tasks/"):
            with notes.open("a", encoding="utf-8") as file:
                file.write(f"{method} {params['taskId']}\n")
        found = answer(method, params, tasks)
        if "result" in found:
            found["result"] = {"resultType": "complete", **found["result"]}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **found}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
