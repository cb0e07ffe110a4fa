"""Documents of config.json that are wrong in one place each, with every sentence that is said of
them; run as a module, this writes what is said now to `tests/cases/tools/broken_configs.jsonl`.
"""

import copy
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from vespe.documents.pointers import pointer_to
from vespe.tools import directory as tool_directory

CASES: Final = Path(__file__).resolve().parents[1] / "cases" / "tools" / "broken_configs.jsonl"
UID: Final = "tool-a"
DETAILS: Final = "implementation_details"
_DIGEST: Final = f"sha256:{'0' * 64}"
_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    "",
    "x y",
    [],
    [1],
    ["", "a\u0000"],
    {},
    {"a": 1},
)
"""One of each kind, and of those that are often let through: true as a number, an empty string."""
IMPLEMENTATIONS: Final[dict[str, Any]] = {
    "python_script": {
        "type": "python_script",
        "path": "main.py",
        "entrypoint": "run",
        "args": {"fixed": 1},
        "environment": "project",
    },
    "shell_command": {
        "type": "shell_command",
        "path": None,
        "entrypoint": "echo",
        "args": {
            "argv": ["{text}", ["-n", "{text}"]],
            "stdin": "{text}",
            "cwd": "tool",
            "output": "lines",
            "success_codes": [0, 1],
        },
    },
    "http_request": {
        "type": "http_request",
        "path": "https://api.example/{text}",
        "entrypoint": "post",
        "args": {
            "query": {"q": "{text}"},
            "headers": {"X-Key": "${env:KEY}"},
            "cookies": {"c": "1"},
            "styles": {"q": {"style": "form", "explode": True, "media_type": "text/plain"}},
            "body": {"form": {"a": "{text}"}, "media_type": "a/b", "encoding": {"a": {}}},
            "auth": {"type": "bearer", "token": "${env:KEY}"},
            "response": "/items/0",
            "success_statuses": [200, 404],
            "redirects": 2,
        },
    },
    "mcp_tool": {
        "type": "mcp_tool",
        "entrypoint": "search",
        "args": {"url": "https://mcp.example/", "headers": {"X-A": "b"}, "digest": _DIGEST},
    },
    "wasm": {"type": "wasm", "path": "tool.wasm", "source": "src/tool.c", "args": {"fixed": 1}},
    "rust_function": {
        "type": "rust_function",
        "path": "src/tool.rs",
        "entrypoint": "run",
        "args": {},
    },
}
_FIELDS: Final[dict[str, Any]] = {
    "description": "Says it.",
    "kit_id": None,
    "version": "1.0",
    "tags": ["a"],
    "secrets": ["KEY"],
    "limits": {
        "timeout_s": 2,
        "max_output_bytes": 9,
        "worker": "persistent",
        "max_calls": 3,
        "max_idle_s": 0.5,
    },
    "task": {"after_s": 5},
    "annotations": {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
        "title": "A",
    },
    "examples": [{"input": {"text": "a"}, "output": "a"}],
    "permissions": {
        "read": ["."],
        "write": [],
        "network": ["a.org:80"],
        "programs": ["git"],
        "memory_mb": 64,
    },
    "queries": ["say it"],
    "effects": ["writes"],
    "example_files": {"a.txt": "b"},
    "example_git": True,
    "api_fields": {"openai": {"strict": True}},
    "lint": {"ignore": {"V101": "so"}},
    "created_from": {"path": "lib/say.py", "function": "say", "sha256": "0" * 64},
    "$schema": "https://vespe.invalid/schemas/tool.schema.json",
}


class Case(NamedTuple):
    """A good document and what is changed in it: values by their JSON Pointers, and what is left
    out. The tool is in the kit `kit`, or in none.
    """

    base: str
    change: dict[str, Any]
    without: tuple[str, ...] = ()
    kit: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the document."""
        document = good(self.base)
        for pointer, value in self.change.items():
            holder, last = _place(document, pointer)
            holder[last] = value
        for pointer in self.without:
            holder, last = _place(document, pointer)
            holder.pop(last)
        return document

    def to_json(self) -> dict[str, Any]:
        """Return the case as a line of the file has it."""
        more = {key: value for key, value in self._asdict().items() if value and key != "base"}
        return {"base": self.base, **more}


def good(kind: str) -> dict[str, Any]:
    """Return a document with every key that nothing is wrong with."""
    return copy.deepcopy(
        {
            "uid": UID,
            "name": "say",
            "schema": {
                "input": {"type": "object", "properties": {"text": {"type": "string"}}},
                "output": True,
            },
            **_FIELDS,
            DETAILS: IMPLEMENTATIONS[kind],
        }
    )


def _place(document: Any, pointer: str) -> tuple[Any, Any]:
    *steps, last = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    for step in steps:
        document = document[int(step) if isinstance(document, list) else step]
    return document, int(last) if isinstance(document, list) else last


def generated() -> Iterator[Case]:
    """Make every case: each place of each good document left out and with a value of each kind, and
    what only looks right.
    """
    for kind, details in IMPLEMENTATIONS.items():
        yield Case(kind, {})
        yield from _at_each_place(kind, details, (DETAILS,))
        both = tuple(f"/{DETAILS}/{key}" for key in ("path", "entrypoint") if key in details)
        yield Case(kind, {}, both)
        yield Case(kind, {}, (f"/{DETAILS}/args",))
        yield Case(kind, {f"/{DETAILS}/unknown": 1, "/unknown": 1})
        yield Case(kind, {f"/{DETAILS}/args/text": 1})
    for key in ("uid", "name", "schema", DETAILS):
        yield Case("python_script", {}, (f"/{key}",))
        yield from (Case("python_script", {f"/{key}": value}) for value in _VALUES)
    yield from _at_each_place("python_script", _FIELDS, ())
    for pointer, values in _SPECIAL.items():
        kind = next((kind for kind in IMPLEMENTATIONS if _has(kind, pointer)), "http_request")
        yield from (Case(kind, {pointer: value}) for value in values)
    for kind, paths in _PATHS.items():
        yield from (Case(kind, {f"/{DETAILS}/path": path}) for path in paths)
    yield from _combined()


def _has(kind: str, pointer: str) -> bool:
    try:
        holder, last = _place(good(kind), pointer)
        return isinstance(holder, list) or last in holder
    except (LookupError, TypeError, ValueError):
        return False


def _at_each_place(kind: str, value: Any, steps: tuple[str | int, ...]) -> Iterator[Case]:
    """Wrong values at each place in a value of the good document, and each key left out."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inner:
        pointer = pointer_to((*steps, key))
        yield Case(kind, {}, (pointer,))
        yield from (Case(kind, {pointer: wrong}) for wrong in _VALUES)
        if isinstance(item, (dict, list)):
            yield from _at_each_place(kind, item, (*steps, key))


_URLS: Final = (
    "ftp://h",
    "h",
    "https://",
    "https://h:0/",
    "https://h:70000/",
    "https://user@h/",
    "https://{text}.org/",
    "https://h/a b",
    "https://h/\\",
    "https://ä/",
    "https://h/\u202e",
    "HTTPS://h:8080/a?b#c",
    "https://[::1]:1/",
)
_FILES: Final = (
    "../a",
    "/a",
    "./a",
    "a//b",
    "a/",
    "a\\b",
    "a\n",
    "a\u202eb",
    ".a",
    "..a",
    "a/../b",
    "ä",
    "${env:KEY}",
)
_PATHS: Final[dict[str, tuple[str, ...]]] = {
    "python_script": (*_FILES, *(f"{name}.py" for name in _FILES), "main.pyc", "main.py"),
    "shell_command": (*_FILES, "main.py"),
    "wasm": (*_FILES, "tool.wasm", "tool.so"),
    "rust_function": (*_FILES, "src/tool.rs", "tool.wasm"),
    "http_request": _URLS,
    "mcp_tool": (*_FILES, "https://h"),
}
_SPECIAL: Final[dict[str, tuple[Any, ...]]] = {
    "/uid": ("tool-b", "a"),
    "/name": ("1a", "a b", "a.b", "ä", "a" * 64, "a" * 65, "a\n", "${env:KEY}"),
    "/description": ("${env:KEY}",),
    "/tags/0": ("${env:KEY}",),
    "/secrets/0": (
        "A-B",
        "1A",
        "a",
        "KEY ",
        "Ä",
        {"name": "KEY"},
        {"name": "KEY", "description": "a token", "docs_url": "https://h.example/a?b#c", "x": 1},
        {"name": "A-B"},
        {"name": 1},
        {"description": "a token"},
        {"name": "KEY", "description": ""},
        {"name": "KEY", "description": " "},
        {"name": "KEY", "description": "a\nb"},
        {"name": "KEY", "description": "a\u001b[2Jb"},
        {"name": "KEY", "description": "a\u202eb"},
        {"name": "KEY", "description": "a" * 301},
        {"name": "KEY", "docs_url": "javascript:alert(1)"},
        {"name": "KEY", "docs_url": "HTTPS://h.example/"},
        {"name": "KEY", "docs_url": "https://user@h.example/"},
        {"name": "KEY", "docs_url": "https://h.example/a b"},
        {"name": "KEY", "docs_url": "https://ä.example/"},
        {"name": "KEY", "docs_url": 1},
    ),
    "/effects/0": ("write", "reads_private", "destructive"),
    "/limits/timeout_s": (86_400, 86_401, 0.001, 1e300, 1.0),
    "/limits/max_output_bytes": (1 << 30, (1 << 30) + 1, 1.0),
    "/limits/max_calls": (1, 1.0),
    "/limits/max_idle_s": (1, 0.0001),
    "/permissions/memory_mb": (1 << 20, (1 << 20) + 1, 1.0),
    "/schema/input": ({"type": "string"}, {"type": "object", "required": 1}, False),
    "/schema/output": (5, "x", {"type": "strin"}, {"pattern": "("}, {"$ref": "#/$defs/a"}),
    "/examples/0": (
        {"input": {}},
        {"input": {}, "error": "x"},
        {"input": {}, "error": ""},
        {"input": {}, "error": 1},
        {"input": {}, "error": "x", "output": 1},
        {"input": {}, "error": "x", "output_schema": {}},
        {"input": {}, "error": "x", "output_pattern": "a"},
        {"input": {}, "output_schema": 1},
        {"input": {}, "output_schema": True},
        {"input": {}, "output_pattern": 1},
        {"input": [], "output": 1},
    ),
    "/created_from/path": ("/a.py", "../a.py", "a/../b.py", "..a.py", "a b.py", "a\u0000"),
    "/created_from/sha256": ("A" * 64, "0" * 63),
    f"/{DETAILS}/type": ("python", "shell_commands", "Wasm"),
    f"/{DETAILS}/environment": ("own", "projects"),
    f"/{DETAILS}/entrypoint": ("class", "läuft", "a-b", "1a", "a.b", "${env:KEY}"),
    f"/{DETAILS}/args/argv": ("{text}", ["a", [["b", 1]]], [{"a": 1}]),
    f"/{DETAILS}/args/argv/0": ("${env:KEY}", "${env:OTHER}", "${env:", "${env:9}", "a\u0000b"),
    f"/{DETAILS}/args/stdin": ("json", "${env:KEY}"),
    f"/{DETAILS}/args/cwd": ("project", "tools"),
    f"/{DETAILS}/args/output": ("text", "json", "xml"),
    f"/{DETAILS}/args/success_codes": ([256], [-1], [0, True], [1.0], ["0"], [255]),
    f"/{DETAILS}/args/query": ({"a": {"b": [1]}},),
    f"/{DETAILS}/args/querystring": ({"json": 1}, {"text": "a"}, {"form": 1}, {}, 1, None),
    f"/{DETAILS}/args/headers": (
        {"a b": "c"},
        {"Host": "h"},
        {"content-length": "1"},
        {"X": "a\nb"},
        {"": "c"},
        {"Connection": "close", "TE": "x", "A:": "b"},
    ),
    f"/{DETAILS}/args/styles": (
        {"q": {"style": "table"}},
        {"q": {"explode": 1}},
        {"q": {"media_type": 1}},
        {"q": {"media_type": "a\nb"}},
        {"q": {}},
        {"q/r": "form"},
    ),
    f"/{DETAILS}/args/body": (
        {"json": None},
        {"json": [1], "media_type": "a\nb"},
        {"form": []},
        {"form": "{text}"},
        {"multipart": 1},
        {"binary": {}},
        {"text": 1},
        {"text": "a", "json": 1},
        {"media_type": "a/b"},
        {"text": "a", "unknown": 1},
        {"text": "a", "encoding": {"b": {"style": "x"}}},
        {"text": "a", "encoding": {"b": {"media_type": 1}}},
        {"text": "a", "encoding": 1},
    ),
    f"/{DETAILS}/args/auth": (
        {"type": "bearer"},
        {"type": "basic", "username": "a"},
        {"type": "basic", "username": "a", "password": "b"},
        {"type": "header", "name": "a", "value": 1},
        {"type": "query", "name": "a", "value": "b"},
        {"type": "digest", "token": "a"},
        {"token": "a"},
    ),
    f"/{DETAILS}/args/response": ("json", "text", "xml", "/a~2", "/a~1b", "a/b"),
    f"/{DETAILS}/args/success_statuses": ([99], [600], [200.0], [100, 599]),
    f"/{DETAILS}/args/redirects": (5, 6, 1.0),
    f"/{DETAILS}/args/unknown": (1,),
    f"/{DETAILS}/args/url": _URLS,
    f"/{DETAILS}/args/digest": ("sha256:0", "0" * 64, f"sha256:{'A' * 64}"),
    f"/{DETAILS}/source": (*_FILES, "tool.c"),
}
"""Values of one place that only it refuses, or takes."""


def _combined() -> Iterator[Case]:
    """Cases that are about more than one place, or about the kit that the tool is in."""
    details, args = f"/{DETAILS}", f"/{DETAILS}/args"
    yield Case("python_script", {"/kit_id": "files"}, kit="files")
    yield Case("python_script", {"/kit_id": "other"}, kit="files")
    yield Case("python_script", {"/kit_id": 5}, kit="files")
    yield Case("python_script", {"/secrets": 5, f"{args}/a": "${env:KEY}"})
    yield Case("python_script", {"/secrets": [], f"{args}/a": {"${env:KEY}": "${env:KEY}"}})
    yield Case("python_script", {details: {"type": "python_script"}})
    yield Case("python_script", {details: {"path": "main.py"}})
    yield Case("python_script", {"/annotations": {"${env:KEY}": 1, "title": "${env:KEY}"}})
    yield Case("python_script", {"/limits": {"timeout_s": 0, "max_calls": 0}, "/tags": 1})
    yield Case("python_script", {}, ("/uid", "/name", "/schema", details))
    yield Case("shell_command", {f"{details}/entrypoint": ""})
    for name in ("a/b", "-n", ".", "..", "a\nb", "a b", "git", "${env:KEY}"):
        yield Case("shell_command", {f"{details}/entrypoint": name})
    for name in ("GET", "fetch", "connect", "Propfind", ""):
        yield Case("http_request", {f"{details}/entrypoint": name})
    for name in ("a-b", "ä", "class", "1a"):
        yield Case("rust_function", {f"{details}/entrypoint": name})
    yield Case("mcp_tool", {f"{args}/command": ["server", "-x"]})
    for command in (*_VALUES, ["server", "-x"], ["server", 1], "server"):
        yield Case("mcp_tool", {f"{args}/command": command}, (f"{args}/url",))
    yield Case("mcp_tool", {f"{args}/unknown": 1})
    for headers in ({"a b": "c"}, {"Host": "h"}, {"X": 1}, {"X": "a\nb"}):
        yield Case("mcp_tool", {f"{args}/headers": headers})


def said(case: Case, directory: Path) -> list[list[str]]:
    """Return the code, the place and the sentence of each thing that is wrong, in their order."""
    config = json.dumps(case.document()).encode("utf-8")
    _, problems = tool_directory.check(directory, kit_id=case.kit, config=config)
    return [[one.code, one.pointer, one.message] for one in problems]


def directory_in(parent: Path) -> Path:
    """Make the tool's directory, with the files that the good documents name."""
    directory = parent / UID
    for name in ("main.py", "tool.wasm", "src/tool.c", "src/tool.rs", "ä.py", ".a.py", "..a.py"):
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(0o755)
    return directory


def kept() -> list[dict[str, Any]]:
    """Return the lines of the file."""
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Write what is said now."""
    with tempfile.TemporaryDirectory() as parent:
        directory = directory_in(Path(parent))
        lines = {json.dumps(case.to_json()): said(case, directory) for case in generated()}
    text = "".join(
        json.dumps({**json.loads(line), "problems": problems}, ensure_ascii=False) + "\n"
        for line, problems in lines.items()
    )
    CASES.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
