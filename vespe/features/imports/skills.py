"""A skill's scripts as tools: each a program that takes words, in Python with its PEP 723 block, in
Bash or in JavaScript.
"""

import ast
import os
import re
from typing import Final

from vespe.documents.foreign import parse_foreign
from vespe.documents.unseen import is_seen
from vespe.errors import InvalidDocument, UsageError, VespeError
from vespe.features.imports.made import (
    Imported,
    LeftOut,
    Made,
    Selection,
    plain,
    selected,
    short,
    slug,
)
from vespe.files import atomic, trees
from vespe.files.trees import TreeFile
from vespe.models import JsonObject

FILE: Final = "SKILL.md"
_FRONT: Final = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_BLOCK: Final = re.compile(r"(?m)^# /// script[ \t]*$\n(?:^#(?: .*)?$\n)+?^# ///[ \t]*$\n?")
_RUNNERS: Final = {".sh": "bash", ".bash": "bash", ".js": "node", ".mjs": "node", ".cjs": "node"}
_DEFINING: Final = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
)
_HINT: Final = "clients read the skill itself as it is"
_MAX_BYTES: Final = 4 * 1024 * 1024
_RUN_PYTHON: Final = '''{block}"""Runs the script as a program, with words as its arguments, and returns what it prints."""

import contextlib
import io
import os
import runpy
import sys


def run(arguments: list[str] | None = None, stdin: str = "") -> str:
    here = os.path.dirname(os.path.abspath(__file__))
    script = os.path.join(here, *{parts!r})
    sys.path.insert(0, os.path.dirname(script))
    printed, sys.argv, sys.stdin = io.StringIO(), [script, *(arguments or [])], io.StringIO(stdin)
    with contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            if end.code not in (None, 0):
                raise RuntimeError(f"{{os.path.basename(script)}} ended with {{end.code}}: {{printed.getvalue()[-2000:]}}") from None
    return printed.getvalue()
'''  # noqa: E501  # a file as it is written
_RUN_PROGRAM: Final = '''#!/usr/bin/env python3
"""Runs the script as a program, with words as its arguments: words that begin with a dash too, which a template would refuse."""

import json
import os
import subprocess
import sys

given = json.load(sys.stdin)
script = os.path.join(os.path.dirname(os.path.abspath(__file__)), *PARTS)
words = [*RUNNER, script, *given.get("arguments", [])]
sys.exit(subprocess.run(words, input=given.get("stdin", ""), encoding="utf-8", check=False).returncode)
'''  # noqa: E501  # a file as it is written


def import_skill(source: str, *, kit_id: str, selection: Selection) -> Imported:
    """Make a tool of each script of the skill in a directory; nothing of it is run. Raises
    UsageError where it has none.
    """
    root = os.path.realpath(os.path.dirname(source) if os.path.basename(source) == FILE else source)
    front = _front(os.path.join(root, FILE))
    scripts = os.path.join(root, "scripts")
    if not os.path.isdir(scripts) or os.path.islink(scripts):
        raise UsageError(
            f"{source} has no directory scripts/: only the scripts of a skill can become tools",
            hint="clients read the skill itself as it is",
        )
    files = trees.read_tree(scripts)
    every = [
        name
        for name in sorted(files)
        if name.endswith((".py", *_RUNNERS)) and not os.path.basename(name).startswith(("_", "."))
    ]
    wanted = selected(every, selection, tags=lambda name: (), path=lambda name: f"scripts/{name}")
    tools: dict[str, Made] = {}
    left_out: list[LeftOut] = []
    for name in wanted:
        try:
            made = _tool(name, files, front)
        except VespeError as error:
            left_out.append(LeftOut(what=f"scripts/{name}", reason=str(error)))
            continue
        if made.name in tools:
            left_out.append(
                LeftOut(what=made.source, reason=f"{tools[made.name].source} has its name already")
            )
        tools.setdefault(made.name, made)
    if not every:
        raise UsageError(
            f"{source} has no script in Python, Bash or JavaScript in scripts/", hint=_HINT
        )
    about = (
        str(front.get("metadata", {}).get("version", "0"))
        if isinstance(front.get("metadata"), dict)
        else "0"
    )
    return Imported(
        kind="skill",
        title=plain(front.get("name")) or os.path.basename(root) or kit_id,
        description=short(plain(front.get("description"))),
        version=plain(about) or "0",
        tools=tuple(tools.values()),
        left_out=tuple(left_out),
        unselected=len(every) - len(wanted),
    )


def _front(path: str) -> JsonObject:
    """Return the front matter of a SKILL.md; an empty one where it has none that can be read."""
    try:
        found = _FRONT.match(
            atomic.read_bytes(path).decode("utf-8", "replace").replace("\r\n", "\n")
        )
        value = parse_foreign(found[1].encode("utf-8"), path=path) if found else {}
    except VespeError:
        return {}
    return value if isinstance(value, dict) else {}


def _tool(name: str, files: dict[str, TreeFile], front: JsonObject) -> Made:
    if not all(map(is_seen, name.split("/"))):
        raise InvalidDocument("its name has characters that cannot be seen")
    text = files[name].data.decode("utf-8", "replace")
    end = os.path.splitext(name)[1]
    beside = {
        f"scripts/{path}": file
        for path, file in files.items()
        if all(map(is_seen, path.split("/")))
    }
    notes = []
    if sum(len(file.data) for file in beside.values()) > _MAX_BYTES:
        beside = {f"scripts/{name}": files[name]}
        notes.append("the other files of scripts/ are too large to come with it")
    properties: JsonObject = {
        "arguments": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The command-line arguments of the program.",
        },
        "stdin": {"type": "string", "description": "The standard input of the program."},
    }
    about = (
        plain(_about(text, end))
        or f"The script {name} of the skill {plain(front.get('name')) or 'that it is in'}."
    )
    if end == ".py":
        block = _BLOCK.search(text)
        runner = _RUN_PYTHON.format(
            block=f"{block[0].rstrip()}\n" if block else "", parts=("scripts", *name.split("/"))
        )
        beside["run.py"] = TreeFile(data=runner.encode("utf-8"))
        details: JsonObject = {"type": "python_script", "path": "run.py", "entrypoint": "run"}
    else:
        parts = repr(("scripts", *name.split("/")))
        runner = _RUN_PROGRAM.replace("PARTS", parts).replace("RUNNER", repr([_RUNNERS[end]]))
        beside["run.py"] = TreeFile(data=runner.encode("utf-8"), executable=True)
        details = {"type": "shell_command", "path": "run.py", "args": {"stdin": "json"}}
    document: JsonObject = {
        "name": slug(os.path.splitext(name)[0]),
        "description": short(about),
        "schema": {
            "input": {"type": "object", "properties": properties, "additionalProperties": False}
        },
        "implementation_details": details,
    }
    return Made(document=document, source=f"scripts/{name}", files=beside, notes=tuple(notes))


def _about(text: str, end: str) -> str:
    """Return what a script says of itself: its docstring, or the comment at its beginning."""
    if end == ".py":
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = str(error) or "it is nested too deeply"
            raise InvalidDocument(f"is not Python: {why}") from None
        if all(
            isinstance(one, _DEFINING)
            or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            for one in tree.body
        ):
            raise InvalidDocument("only defines what others import: it is not a program")
        return ast.get_docstring(tree) or ""
    lines: list[str] = []
    for line in text.split("\n")[:60]:
        bare = line.strip()
        if bare.startswith("#!") or bare in ("/**", "/*"):
            continue
        if not bare.startswith(("#", "//", "*")) or bare.startswith("*/"):
            break
        lines.append(bare.lstrip("#/* ").rstrip())
    return " ".join(line for line in lines if line)
