"""A function of the project's own package as a tool that runs it where it stands, in the project's
own environment.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from vespe.errors import UsageError
from vespe.files.trees import TreeFile
from vespe.tools.drafts import Draft, draft_from_function

_MODULE: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_ROOTS: Final = (".", "src")
"""Where a project keeps its packages, in the order in which they are looked for."""
_START: Final = """#!/bin/sh
# Starts the project's own Python: that of its .venv, else the one on PATH.
for python in .venv/bin/python python3; do
    command -v "$python" >/dev/null 2>&1 && exec "$python" -I -B "$(dirname "$0")/call.py"
done
echo "there is neither .venv/bin/python nor python3" >&2
exit 1
"""
_CALL: Final = '''"""Calls {module}:{function} of the project with the inputs on stdin; what it prints is the log."""

import asyncio
import importlib
import inspect
import json
import os
import sys

result = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
sys.path.insert(0, os.path.join(os.getcwd(), "{root}"))
answer = importlib.import_module("{module}").{function}(**json.load(sys.stdin))
if inspect.isawaitable(answer):

    async def awaited():
        return await answer

    answer = asyncio.run(awaited())
json.dump(answer, result, ensure_ascii=False)
result.flush()
'''  # noqa: E501  # a file as it is written


def draft_in_place(
    source: str,
    *,
    name: str | None = None,
    fields: Mapping[str, Any] | None = None,
    directory: str = ".",
) -> Draft:
    """Draft a tool of `pkg.mod:function`, whose package is in `directory`, the project's root, or
    in its `src/`.

    The function is read for its schema and never run; a call imports it, so that it runs whatever
    the project's files are then. Inputs come as JSON: where the function wants an object of a
    class, it gets a dictionary. Raises as `draft_from_function` does.
    """
    module, _, function = source.rpartition(":")
    if not _MODULE.fullmatch(module) or not function.isidentifier():
        raise UsageError(
            f"{source!r} does not name a function of a module",
            hint="write it as PACKAGE.MODULE:function",
        )
    parts = module.split(".")
    found = [
        (root, os.path.join(root, *parts[:-1], tail))
        for root in _ROOTS
        for tail in (f"{parts[-1]}.py", f"{parts[-1]}/__init__.py")
    ]
    root, file = next(
        ((root, file) for root, file in found if os.path.isfile(os.path.join(directory, file))),
        ("", ""),
    )
    if not file:
        raise UsageError(
            f"there is no module {module} in {os.path.abspath(directory)} or its src/",
            hint="it is looked for as a file",
        )
    draft = draft_from_function(f"{file}:{function}", name=name, fields=fields, directory=directory)
    details = {
        "type": "shell_command",
        "path": "start",
        "args": {"argv": [], "stdin": "json", "output": "json"},
    }
    call = _CALL.format(module=module, function=function, root=root)
    files = {
        "start": TreeFile(data=_START.encode(), executable=True),
        "call.py": TreeFile(data=call.encode()),
    }
    note = (
        f"it runs {file} as it stands at each call, which no approval covers: "
        "trust it as you trust the project's own code"
    )
    return replace(
        draft,
        document={**draft.document, "implementation_details": details},
        files=files,
        notes=(note,),
    )
