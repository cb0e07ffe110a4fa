"""The tools that the official conformance suite calls by name, as a project on disk: made anew for
each run.
"""

import asyncio
import base64
import json
import struct
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool, vespe, write_kit, write_tool
from vespe import aask, ask, report_message, report_progress
from vespe.calls.registry import ToolRegistry
from vespe.features.mcp.server import stdio
from vespe.features.mcp.server.tools import ServedTools
from vespe.files.locations import user_data_dir
from vespe.projects.workspace import open_workspace

_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _red_pixel() -> str:
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    png = (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
        + _chunk(b"IEND", b"")
    )
    return base64.b64encode(png).decode("ascii")


def _silence() -> str:
    samples = bytes(16)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", len(samples)) + samples
    return base64.b64encode(b"RIFF" + struct.pack("<I", len(body)) + body).decode("ascii")


_IMAGE = {"type": "image", "data": _red_pixel(), "mimeType": "image/png"}
_TEXT = {"type": "text", "text": "This is a simple text response for testing."}


def _resource(uri: str, mime: str, text: str) -> dict[str, object]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}}


_BLOCKS = {
    "test_image_content": [_IMAGE],
    "test_audio_content": [{"type": "audio", "data": _silence(), "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        _resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        {"type": "text", "text": "Multiple content types test:"},
        _IMAGE,
        _resource(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ],
}
_BODIES = {
    "test_simple_text": f"return {_TEXT['text']!r}",
    "test_error_handling": "raise ValueError('This tool intentionally "
    "returns an error for testing')",
    "test_logging_tool": "print('one')\nreturn 'logged'",
}


def _with_progress() -> str:
    for done in (0, 50, 100):
        report_progress(done, 100, message=f"{done} %")
    return "done"


def _with_logging() -> str:
    for step in ("started", "processing", "completed"):
        report_message("info", f"Tool execution {step}")
    return "done"


def _confirm(filename: str) -> str:
    answer = ask(f"Delete {filename}?", {"type": "object", "properties": {"confirm": _YES}})
    return f"{filename} is {'gone' if answer.get('confirm') else 'kept'}"


_YES = {"type": "boolean", "default": True}
_TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "greet": ("return f'Hello, {inputs[\"name\"]}!'", {}),
    "slow_compute": (
        "import time\ntime.sleep(inputs['seconds'])\nreturn 'computed'",
        {"task": {"after_s": 0.2}, "limits": {"timeout_s": 100}},
    ),
    "failing_job": (
        "import time\ntime.sleep(1)\nraise ValueError('it failed')",
        {"task": "always"},
    ),
    "protocol_error_job": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        {"task": "always"},
    ),
}


def _form(required: list[str] | None = None, **properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": required or [*properties]}


def _elicitation(message: str) -> str:
    answer = ask(message, _form(username={"type": "string"}, email={"type": "string"}))
    return f"User response: {json.dumps(answer)}"


def _defaults() -> str:
    choices = ["active", "inactive", "pending"]
    schema = _form(
        ["name"],
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": choices, "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return f"Elicitation completed: {json.dumps(ask('Who are you?', schema))}"


def _enums() -> str:
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
    schema = _form(
        ["untitledSingle"],
        untitledSingle={"type": "string", "enum": plain},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": plain}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    return f"Elicitation completed: {json.dumps(ask('Which ones?', schema))}"


def _name() -> str:
    answer = ask("What is your name?", _form(name={"type": "string"}), name="user_name")
    return f"Hello, {answer['name']}!"


def _confirmed() -> str:
    ask("Please confirm", _form(ok={"type": "boolean"}), name="confirm")
    return "state-ok"


def _rounds() -> str:
    first = ask("Step 1: What is your name?", _form(name={"type": "string"}), name="step1")
    second = ask("Step 2: Which color?", _form(color={"type": "string"}), name="step2")
    return f"{first['name']} likes {second['color']}"


async def _both() -> str:
    sure = _form(["confirm"], name={"type": "string"}, confirm=_YES)
    await asyncio.gather(aask("The first?", sure, name="one"), aask("And this?", sure, name="two"))
    return "both are here"


def _named_then_slow() -> str:
    answer = ask("What is your name?", _form(name={"type": "string"}), name="user_name")
    time.sleep(1.2)
    return f"Hello, {answer['name']}!"


def _change_tools(root: str) -> str:
    """Add a tool to the project, or take it away again, at once as `vespe` does."""
    added, aside = Path(root, ".vespe/tools/tool-changed"), Path(root, "aside/tool-changed")
    if added.exists():
        added.rename(aside)
        return "one tool less"
    if not aside.exists():
        python_tool(aside, "test_changed", "return 'new'")
    aside.rename(added)
    return "one tool more"


_CHANGES = "test_trigger_tool_change"
IN_PROCESS: dict[str, Callable[..., Any]] = {
    "test_tool_with_progress": _with_progress,
    "test_tool_with_logging": _with_logging,
    "test_elicitation": _elicitation,
    "test_elicitation_sep1034_defaults": _defaults,
    "test_elicitation_sep1330_enums": _enums,
    "test_input_required_result_elicitation": _name,
    "test_input_required_result_request_state": _confirmed,
    "test_input_required_result_tampered_state": _confirmed,
    "test_input_required_result_multi_round": _rounds,
    "test_streaming_elicitation": _confirmed,
    "confirm_delete": _confirm,
    "multi_input": _both,
    "test_tool_with_task": _named_then_slow,
}
"""Those that tell of steps on the way or ask, as code of the serving process does."""
_TASKED: dict[str, Any] = {
    "confirm_delete": "always",
    "multi_input": "always",
    "test_tool_with_task": {"after_s": 0.5},
}
_MESSAGE = {"type": "object", "properties": {"message": {"type": "string"}}}


def make(root: Path) -> Path:
    """Make the project in `root`, trusted, and give it."""
    root.mkdir(parents=True)
    done = vespe("init", cwd=root)
    assert done.returncode == 0, done.stderr
    tools = root / ".vespe/tools"
    for name, blocks in _BLOCKS.items():
        python_tool(
            tools / f"tool-{name}",
            name,
            f"import json\nreturn json.loads({json.dumps({'content': blocks})!r})",
        )
    # the suite calls the tool that is listed first with a header of its own
    python_tool(tools / "tool-first", "a_first_tool", "return 'first'")
    for name, body in _BODIES.items():
        python_tool(tools / f"tool-{name}", name, body)
    python_tool(
        tools / "tool-json_schema", "json_schema_2020_12_tool", "return 'ok'", schema=_SCHEMA
    )
    given: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}
    for name, (body, said) in _TASKS.items():
        python_tool(tools / f"tool-{name}", name, body, schema=given, **said)
    for name in (*IN_PROCESS, _CHANGES):
        more: dict[str, Any] = {"task": _TASKED[name]} if name in _TASKED else {}
        more |= {"schema": given} if name == "confirm_delete" else {}
        more |= {"schema": _MESSAGE} if name == "test_elicitation" else {}
        write_tool(tools / f"tool-{name}", name, **more)
    headers = {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    }
    python_tool(
        tools / "tool-headers", "test_custom_header", "return inputs['region']", schema=headers
    )
    kit = write_kit(Path(user_data_dir(), "kits"), "tides", description="Tides of the sea.")
    python_tool(kit / "tool-tide", "tide", "return 'high'", kit_id="tides")
    done = vespe("kit", "activate", "tides", cwd=root)
    assert done.returncode == 0, done.stderr
    return root


def serve(root: str, how: str) -> None:
    """Serve the project at `root` in this process: `how` is `stdio`, or a port for HTTP."""
    registry = ToolRegistry()
    for name, function in IN_PROCESS.items():
        registry.register(function, name=name)
    registry.register(lambda: _change_tools(root), name=_CHANGES)
    served = ServedTools(open_workspace(root), registry=registry)
    if how == "stdio":
        return stdio.serve(served)
    # uvicorn takes a while, which stdio need not pay
    from vespe.features.mcp.server import http_gate, http_server
    from vespe.http import server

    listener = server.bind("127.0.0.1", int(how))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    policy = http_gate.AccessPolicy(token=None)
    http_server.serve_http(served, listener, policy, tell=_tell)
    return None


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2])
