"""Lint rules: tools that try to ask the user a question where their type cannot."""

import os
import re
from collections.abc import Iterator
from typing import Any, Final

from vespe.errors import VespeError
from vespe.features.lint.base import Found, Subject, rule
from vespe.features.lint.rules.safety import own_files
from vespe.files import atomic
from vespe.tool_types import Compiled, type_in
from vespe.tools import built

_DETAILS: Final = "/implementation_details"
_NAMES: Final = ("VESPE_ASK_FD", "vespe_ask")
"""What tools ask with: the variable that names the descriptors, and the module for Python."""
_ASKS: Final = re.compile(rf"\b(?:{'|'.join(_NAMES)})\b")


@rule("layout-cannot-ask", "warning")
def _cannot_ask(subject: Subject) -> Iterator[Found]:
    """A WebAssembly tool tries to ask the user a question.

    The tools of the types wasm and rust_function cannot ask: a module gets no environment
    variables, and only the descriptors of its files. Make the value an argument, or ask in a
    python_script or shell_command tool.

    Bad: std::env::var("VESPE_ASK_FD") in src/tool.rs
    Good: {"properties": {"size": {"enum": ["small", "large"]}}}
    """
    document = subject.document
    if subject.api != "vespe" or not subject.directory or not isinstance(document, dict):
        return
    details: Any = document.get("implementation_details")
    kind = type_in(details)
    broken = any(problem.pointer.startswith(_DETAILS) for problem in subject.problems)
    if kind is None or kind.compiled is None or broken:
        return
    fix = "make the value an argument, or ask in a python_script or shell_command tool"
    in_source = False
    for text, file in own_files(subject):
        if file.endswith(kind.compiled.sources) and (place := _ASKS.search(text)):
            in_source = True
            yield Found(
                message=f"a WebAssembly tool cannot ask the user: {place[0]} is not available to "
                "it",
                file=file,
                line=text.count("\n", 0, place.start()) + 1,
                column=place.start() - text.rfind("\n", 0, place.start()),
                fix=fix,
            )
    if not in_source and (found := _asks_in_module(subject.directory, details, kind.compiled)):
        module, name = found
        yield Found(
            message=f"a WebAssembly tool cannot ask the user: {module} mentions {name}, which is "
            "not available to it",
            pointer=f"{_DETAILS}/path",
            fix=fix,
        )


def _asks_in_module(
    directory: str, details: dict[str, Any], compiled: Compiled
) -> tuple[str, str] | None:
    """Return the name of a tool's module and of what it asks with, None where it does not ask or
    cannot be read, which other rules say.
    """
    module = details.get(compiled.module) if compiled.module else built.MODULE
    if not isinstance(module, str):
        return None
    try:
        data = atomic.read_bytes(os.path.join(directory, module), limit=built.MAX_MODULE_BYTES)
    except VespeError:
        return None
    # strings follow one another in a module without anything between them
    name = next((name for name in _NAMES if name.encode() in data), None)
    return None if name is None else (module, name)
