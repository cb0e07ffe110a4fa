"""An MCP server over stdin and stdout, by hand."""

import json
import sys

ECHO = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
DAY = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
BOOKED = {"type": "object", "properties": {"booked": {"type": "string"}}, "required": ["booked"]}
TOOLS = [
    {
        "name": "echo",
        "title": "Echo",
        "description": "Say a text again.",
        "inputSchema": ECHO,
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    {
        "name": "desk.book",
        "description": "Book a desk.",
        "inputSchema": DAY,
        "outputSchema": BOOKED,
    },
]
ABOUT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "desk", "version": "1.2"},
}


def called(name, arguments):
    if name == "echo":
        return {"content": [{"type": "text", "text": arguments["text"]}]}
    booked = {"booked": arguments["day"]}
    return {"content": [{"type": "text", "text": json.dumps(booked)}], "structuredContent": booked}


for line in sys.stdin:
    message = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": message.get("id")}
    if message["method"] == "initialize":
        answer["result"] = ABOUT
    elif message["method"] == "tools/list":
        answer["result"] = {"tools": TOOLS}
    elif message["method"] == "tools/call":
        answer["result"] = called(message["params"]["name"], message["params"]["arguments"])
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    if "id" in message:
        print(json.dumps(answer), flush=True)
