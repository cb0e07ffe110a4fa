"""What a new python_script begins with: a template, or the user's own file and its function."""

import ast
import os
from collections.abc import Mapping
from typing import Any

from vespe.errors import InvalidDocument, UsageError
from vespe.files import atomic
from vespe.files.trees import TreeFile
from vespe.tool_types import NewTool
from vespe.tools.drafts import without_fixed
from vespe.tools.new_tool import (
    NO_INPUTS,
    ToolTemplate,
    document_of,
    existing_file,
    function_name,
    said_of,
    schemas_of,
)
from vespe.tools.python.names import parse_source, read_names
from vespe.tools.python.signatures import derive

_SCRIPT = '''"""A template: replace the function, then update the schema in config.json with `vespe tool sync`."""

from typing import TypedDict


class Counts(TypedDict):
    characters: int
    words: int
    lines: int


def {function}(text: str = "hello, world") -> Counts:
    """Count the characters, words and lines of a text.

    Args:
        text: The text to count in.

    Returns:
        The counts.
    """
    return {{"characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}}
'''  # noqa: E501  # a file as it is written
_OPEN_SCRIPT = '''"""A template: replace the body of the function."""


def {function}(**inputs: object) -> dict[str, object]:
    """Return the inputs.

    The inputs in the schema and the fixed arguments in config.json are keyword arguments.
    """
    return {{"received": inputs}}
'''


def python_template(name: str, entrypoint: str | None, *, given: bool) -> ToolTemplate:
    """A Python function of that name; with a schema or arguments `given` by the user, one that
    takes any keyword.

    The input schema is left empty: it is derived from the script, as for any function.
    """
    function = entrypoint or function_name(name)
    script = (_OPEN_SCRIPT if given else _SCRIPT).format(function=function)
    description = (
        "Return the inputs." if given else "Count the characters, words and lines of a text."
    )
    return ToolTemplate(
        description=description, input_schema={}, entrypoint=function, script=script
    )


def begin(type: str, name: str, *, given: Mapping[str, Any], directory: str) -> NewTool:
    """Return a new tool that says what is `given`; its `path`, relative to `directory`, is
    copied.
    """
    path, entrypoint = given.get("path"), given.get("entrypoint")
    if path is not None and not path.endswith(".py"):
        raise UsageError(f"{path!r} is not a Python file: a python_script needs a .py file")
    found = existing_file(path, directory) if path is not None else None
    if found is not None:
        return _from_source(type, name, path=found, given=given)
    if entrypoint is not None and not entrypoint.isidentifier():
        raise UsageError(f"{entrypoint!r} is not a valid function name")
    template = python_template(name, entrypoint, given="schema" in given or "args" in given)
    script = path or f"{function_name(name)}.py"
    derived = derive(template.script, template.entrypoint, path=script)
    fallback = NO_INPUTS if "args" in given else derived.input_schema
    schema = schemas_of(
        given.get("schema"),
        fallback,
        None if "schema" in given or "args" in given else derived.output_schema,
    )
    document = document_of(
        name, type, {**said_of(template), **given, "path": script, "schema": schema}
    )
    missing = (
        (f"there is no file {path} here, so the tool's {script} is the template",)
        if path is not None
        else ()
    )
    return NewTool(document, {script: TreeFile(data=template.script.encode())}, missing)


def _from_source(type: str, name: str, *, path: str, given: Mapping[str, Any]) -> NewTool:
    data = atomic.read_bytes(os.path.realpath(path))
    source, script = _text(data, path), os.path.basename(path)
    entrypoint = given.get("entrypoint") or _only_function(source, name, path)
    derived = derive(source, entrypoint, path=path)
    fixed = given.get("args") or {}
    schema = schemas_of(
        given.get("schema"), without_fixed(derived.input_schema, fixed), derived.output_schema
    )
    said = {
        "description": derived.description,
        **given,
        "path": script,
        "entrypoint": entrypoint,
        "schema": schema,
    }
    notes = (*derived.notes, *_left_behind(source, path, name))
    return NewTool(document_of(name, type, said), {script: TreeFile(data=data)}, notes)


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidDocument("is not UTF-8; save it as UTF-8", path=path, line=line) from None


def _only_function(source: str, name: str, path: str) -> str:
    """The function that a file is for: the one with the tool's name, or the only public one."""
    try:
        functions = list(read_names(parse_source(source)).functions)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return function_name(name)  # derive says what is wrong with the file
    wanted = function_name(name)
    public = [function for function in functions if not function.startswith("_")]
    if wanted in functions or len(public) != 1:
        return wanted
    return public[0]


def _left_behind(source: str, path: str, name: str) -> list[str]:
    """A sentence for each module that the file imports from beside itself or from its own package:
    only the file is copied.
    """
    places = [os.path.dirname(os.path.abspath(path))]
    while os.path.isfile(os.path.join(places[-1], "__init__.py")):
        places.append(os.path.dirname(places[-1]))
    found = [
        m
        for m in _imported(source)
        if m[:1] == "."
        or any(_is_module(os.path.join(place, m.partition(".")[0])) for place in places)
    ]
    return [
        f"it imports {module} from its own project, which is not copied: {_advice(module, name)}"
        for module in found
    ]


def _advice(module: str, name: str) -> str:
    again = f"`vespe tool remove {name} --yes` and create it again with `--in-place`"
    if module[:1] == ".":  # a copy is in no package, so a copy of the module would not help
        return f"to run the original file, {again}, or register the function in-process"
    return (
        f"copy it into the tool's directory; or to run the original file, {again}; or register "
        "the function in-process"
    )


def unmet_import(data: bytes) -> str:
    """Return the first relative import that runs whenever the file does, as its author wrote it; ""
    if there is none. A copy of such a file cannot run, because it is in no package.
    """
    for node in parse_source(data.decode("utf-8", "replace")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            return ast.unparse(node)
    return ""


def _is_module(path: str) -> bool:
    return any(os.path.exists(path + end) for end in (".py", "/__init__.py"))


def _imported(source: str) -> dict[str, None]:
    """Return the modules that a source imports anywhere, within its functions too; a relative one
    has its dots.
    """
    found: dict[str, None] = {}
    for node in ast.walk(parse_source(source)):
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            found |= dict.fromkeys(
                [dots + node.module] if node.module else [dots + alias.name for alias in node.names]
            )
    return found
