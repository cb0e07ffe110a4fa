"""A function of the project's own package as a tool that runs it where it stands, in the project's
own environment.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from vespe.errors import UsageError, VespeError
from vespe.files import atomic
from vespe.files.trees import TreeFile
from vespe.lazy import hashlib
from vespe.models import JsonObject
from vespe.tools.drafts import Draft, draft_from_function

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

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
import importlib.util
import inspect
import json
import os
import sys

result = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
here = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("vespe_values", os.path.join(here, "values.py"))
values = importlib.util.module_from_spec(spec)
spec.loader.exec_module(values)
sys.path.insert(0, os.path.join(os.getcwd(), "{root}"))


async def awaited(answer):
    return await answer


def failed(error):
    """Return an error as one line: its class, its text, and the place in the project's files."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = os.path.relpath(trace.tb_frame.f_code.co_filename)
        if not file.startswith(os.pardir) and trace.tb_frame.f_code.co_filename != __file__:
            place = f" ({{file}}, line {{trace.tb_lineno}})"
        trace = trace.tb_next
    return " ".join(f"{{type(error).__name__}}: {{error}}".split()) + place


try:
    called = importlib.import_module("{module}").{function}
    answer = called(**values.converted_inputs(called, json.load(sys.stdin)))
    if inspect.isawaitable(answer):
        answer = asyncio.run(awaited(answer))
    answer = values.plain(answer, "", 0)
except values.Unfit as unfit:
    sys.exit(f"{{unfit.pointer}} {{unfit.why}}".strip())
except BaseException as error:
    sys.exit(failed(error))
json.dump(answer, result, ensure_ascii=False)
result.flush()
'''  # noqa: E501  # a file as it is written
CALL: Final = "call.py"
VALUES: Final = "values.py"
"""What makes objects of a function's classes out of JSON, and JSON of its result; each tool has a
copy, since no Vespe need be in the project's environment.
"""
_CALLED: Final = re.compile(r'importlib\.import_module\("([\w.]+)"\)\.(\w+)')
_ROOT: Final = re.compile(r'os\.path\.join\(os\.getcwd\(\), "([\w.]+)"\)')
_OLD: Final = "b18d4d3a6a455cb123c394d122b8462fb22f975c3525d7930eee99d66ed30eeb"
"""The digest of the call.py of Vespe 0.2, but for its lines that name the function: it gave a
function dictionaries for objects, and printed whole tracebacks.
"""


def own_values() -> bytes:
    """Return the `values.py` that new tools get."""
    return atomic.read_bytes(os.path.join(_PACKAGE, "types", "python_script", VALUES))


class Standing(NamedTuple):
    """A function that a tool runs where it stands: its module, its name, and the directory of the
    project that the module is looked for in. `is_old` says that Vespe 0.2 wrote what calls it.
    """

    module: str
    function: str
    root: str
    is_old: bool

    @property
    def source(self) -> str:
        """Return it as `--from` takes it."""
        return f"{self.module}:{self.function}"

    def file(self, project: str) -> str | None:
        """Return the path of the module's file, from the project's root; None where it is gone."""
        return next((path for _, path in _places(self.module, project)), None)


def standing(directory: str, document: JsonObject) -> Standing | None:
    """Return the function that the tool in a directory runs in place; None for any other tool."""
    details = document.get("implementation_details")
    if not isinstance(details, dict) or details.get("path") != "start":
        return None
    try:
        text = atomic.read_bytes(os.path.join(directory, CALL)).decode("utf-8")
    except (VespeError, UnicodeDecodeError):
        return None
    return standing_in(text)


def standing_in(text: str) -> Standing | None:
    """Return the function that the text of a `call.py` calls; None where it calls none so."""
    called, root = _CALLED.search(text), _ROOT.search(text)
    if called is None or root is None:
        return None
    return Standing(called[1], called[2], root[1], is_old=_frame(text) == _OLD)


def _frame(text: str) -> str:
    """Return the digest of a call.py without the lines that name its function."""
    lines = [
        line
        for line in text.splitlines()
        if not (line.startswith('"""Calls ') or _CALLED.search(line) or _ROOT.search(line))
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _places(module: str, project: str) -> Iterator[tuple[str, str]]:
    """Return where a module's file is, with the directory that it is imported from."""
    parts = module.split(".")
    for root in _ROOTS:
        for tail in (f"{parts[-1]}.py", f"{parts[-1]}/__init__.py"):
            path = os.path.join(root, *parts[:-1], tail)
            if os.path.isfile(os.path.join(project, path)):
                yield root, path


def _module_of(path: str, project: str) -> str:
    """Return the module that a file of the project is. Raises UsageError for any other file."""
    if not os.path.isfile(path):
        raise UsageError(
            f"there is no file {path}", hint="give the path from where you are, or the module"
        )
    inside = os.path.relpath(os.path.realpath(path), os.path.realpath(project))
    for root in _ROOTS[::-1]:
        parts = os.path.relpath(inside, root).removesuffix(".py").split(os.sep)
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if _MODULE.fullmatch(module) and os.path.normpath(inside) == os.path.normpath(
            next(_places(module, project), ("", ""))[1]
        ):
            return module
    raise UsageError(
        f"{path} is not a module of the project in {os.path.abspath(project)}",
        hint="a file that runs in place is in the project, and its path consists of names that "
        "Python can import",
    )


def draft_in_place(
    source: str,
    *,
    name: str | None = None,
    fields: Mapping[str, Any] | None = None,
    directory: str = ".",
) -> Draft:
    """Draft a tool of `pkg.mod:function`, whose package is in `directory`, the project's root, or
    in its `src/`. `FILE.py:function`, from the working directory, names the same.

    The function is read for its schema and never run; a call imports it, so that it runs whatever
    the project's files are then. Inputs come as the function's annotations ask for them. Raises as
    `draft_from_function` does.
    """
    module, _, function = source.rpartition(":")
    if module.endswith(".py"):
        module = _module_of(module, directory)
    if not _MODULE.fullmatch(module) or not function.isidentifier():
        raise UsageError(
            f"{source!r} does not name a function of a module",
            hint="write it as FILE.py:function or PACKAGE.MODULE:function",
        )
    root, file = next(_places(module, directory), ("", ""))
    if not file:
        path = module.replace(".", "/")
        raise UsageError(
            f"there is no module {module} in {os.path.abspath(directory)} or its src/",
            hint=f"that would be the file {path}.py or {path}/__init__.py",
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
        VALUES: TreeFile(data=own_values()),
    }
    note = (
        f"each call runs the current {os.path.normpath(file)}. An approval does not cover this "
        "file: trust it as you trust the project's other code"
    )
    return replace(
        draft,
        document={**draft.document, "implementation_details": details},
        files=files,
        origin=None,
        notes=(note,),
    )
