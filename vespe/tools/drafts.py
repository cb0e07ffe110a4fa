"""A tool that is not on disk yet: its config.json and its files, from a template, from a function,
or from the user's own files.
"""

import ast
import os
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from vespe.defaults import CONFIG_FILE, DESCRIPTION_FILE
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, UsageError
from vespe.files import atomic
from vespe.files.trees import TreeFile
from vespe.lazy import difflib
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass
from vespe.tools import new_tool
from vespe.tools.fields import KEYS, NAME_PATTERN
from vespe.tools.implementations import named_secrets
from vespe.tools.new_tool import Template
from vespe.tools.python.names import parse_source, read_names
from vespe.tools.python.signatures import derive

_PARTS: Final[Mapping[str, type]] = {
    "description": str,
    "schema": dict,
    "path": str,
    "entrypoint": str,
    "args": dict,
}
"""What stands in place of a template's own, with the types of each."""
FIELDS: Final = (
    *_PARTS,
    *(
        key
        for key in KEYS
        if key not in ("uid", "name", "kit_id", "$schema", "implementation_details", *_PARTS)
    ),
)
"""What a draft may be given: the parts of an implementation, and every other key of config.json
that is its author's to set.
"""
IN_PROCESS: Final = "in_process"
"""Stands for the type of a tool without `implementation_details`, which a registered function
implements.
"""
_TEXT: JsonObject = {
    "type": "object",
    "properties": {
        "text": {
            "type": "string",
            "description": "The text to count in.",
            "default": "hello, world",
        }
    },
    "additionalProperties": False,
}
_COUNTS: JsonObject = {
    "type": "object",
    "properties": {
        "characters": {"type": "integer"},
        "words": {"type": "integer"},
        "lines": {"type": "integer"},
    },
    "required": ["characters", "words", "lines"],
}
"""What the template in Rust takes and returns."""
_EMPTY: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A whole tool but its uid: config.json as data, and the other files by their path in its
    directory.

    `notes` are sentences for its author on what could not be derived.
    """

    name: str
    document: JsonObject
    files: Mapping[str, TreeFile] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def draft_tool(
    name: str, type: str, *, fields: Mapping[str, Any] | None = None, directory: str = "."
) -> Draft:
    """Draft a tool that runs at once; `fields` (keys as in FIELDS) are the user's own words in
    place of the template's.

    `path` may name an existing file, relative to `directory`: it is copied into the tool, and a
    Python file's function gives name and schema. `schema` is `{"input": …, "output": …}` or the
    schema of the inputs alone. Secrets that `args` names are declared. A tool of the type
    IN_PROCESS has no implementation. Raises UsageError for what cannot be, InvalidDocument for a
    Python file that cannot be read.
    """
    given = {key: value for key, value in (fields or {}).items() if value is not None}
    _check_fields(given)
    check_name(name)
    parts = {key: given.pop(key) for key in _PARTS if key in given}
    if type == "python_script":
        return _completed(_python(name, parts, directory), given)
    if type == "shell_command":
        return _completed(_shell(name, parts, directory), given)
    if type == "http_request":
        return _completed(_http(name, parts), given)
    if type == "rust_function":
        return _completed(_rust(name, parts, directory), given)
    if type == IN_PROCESS:
        return _completed(_in_process(name, parts), given)
    near = difflib.get_close_matches(type, (*new_tool.TYPES, IN_PROCESS), n=1, cutoff=0.4)
    hint = (
        f"did you mean {near[0]}?"
        if near
        else f"the types are {', '.join(new_tool.TYPES)} and {IN_PROCESS}"
    )
    raise UsageError(f"there is no type of tool called {type!r}", hint=hint)


def draft_from_parts(
    name: str,
    schema: JsonObject | None,
    details: JsonObject | None,
    *,
    fields: Mapping[str, Any] | None = None,
) -> Draft:
    """Draft a tool from its `schema` and `implementation_details` as config.json has them; without
    the latter it runs in-process.

    A file that `path` names is copied; where there is none the tool begins with its type's
    template. Raises as `draft_tool` does.
    """
    known = {"type", "path", "entrypoint", "args"}
    parts = {key: value for key, value in (details or {}).items() if key in known - {"type"}}
    draft = draft_tool(
        name,
        str(details.get("type")) if details else IN_PROCESS,
        fields={**(fields or {}), "schema": schema, **parts},
    )
    more = {key: value for key, value in (details or {}).items() if key not in known}
    if not more:
        return draft
    return replace(
        draft,
        document={
            **draft.document,
            "implementation_details": {**draft.document["implementation_details"], **more},
        },
    )


def draft_from_function(
    source: str,
    *,
    name: str | None = None,
    fields: Mapping[str, Any] | None = None,
    directory: str = ".",
) -> Draft:
    """Draft a Python tool from `FILE.py:function`, relative to `directory`: the file is copied, the
    function read and never run.

    `name` is the function's own unless given. Raises UsageError where there is no such file,
    InvalidDocument where the function cannot be a tool.
    """
    file, _, function = source.rpartition(":")
    if (
        (module := f"{file.replace('.', '/')}.py")
        and not file.endswith(".py")
        and os.path.isfile(os.path.join(directory, module))
    ):
        why = (
            "a tool runs what is approved with it, and an approval does not cover "
            "the project's other code"
        )
        raise UsageError(
            f"{file} names a module, and {why}",
            hint=f"`--from {module}:{function}` copies the file; with --in-place it runs where it "
            "stands, in the project's environment",
        )
    if not file or not function.isidentifier():
        raise UsageError(
            f"{source!r} does not name a function", hint="write it as FILE.py:function"
        )
    if not os.path.isfile(os.path.join(directory, file)):
        raise UsageError(f"there is no file {file}")
    given = {**(fields or {}), "path": file, "entrypoint": function}
    return draft_tool(
        name if name is not None else function, "python_script", fields=given, directory=directory
    )


def check_name(name: str) -> None:
    """Raise UsageError, with the rule, for what can be no tool's name."""
    if not NAME_PATTERN.fullmatch(name):
        rule = "a letter or _, then letters, digits, _ and -, 64 characters at most, all ASCII"
        raise UsageError(f"{name!r} can be no tool's name", hint=f"a name is {rule}")


def _check_fields(given: Mapping[str, Any]) -> None:
    for key, value in given.items():
        if key not in FIELDS:
            near = difflib.get_close_matches(key, FIELDS, n=1)
            raise UsageError(
                f"a tool has no {key!r} to set",
                hint=f"did you mean {near[0]}?" if near else f"it has {', '.join(FIELDS)}",
            )
        kind = _PARTS.get(key, object)
        if not isinstance(value, kind) or (isinstance(value, str) and "\0" in value):
            raise UsageError(
                f"`{key}` must be {'an object' if kind is dict else 'a string without NUL'}, "
                f"not {value!r:.80}"
            )


def _completed(draft: Draft, given: Mapping[str, Any]) -> Draft:
    """Return the draft with the keys that no template has, and with the secrets that its arguments
    name.
    """
    declared = given.get("secrets", [])
    named = named_secrets(draft.document.get("implementation_details", {}))
    missing = [name for name in named if isinstance(declared, list) and name not in declared]
    more = {**given, **({"secrets": [*declared, *missing]} if missing else {})}
    notes = (f"declared the secret {name}, which `args` names" for name in missing)
    return replace(draft, document={**draft.document, **more}, notes=(*draft.notes, *notes))


def describe(name: str, document: JsonObject) -> str:
    """Write description.md for a config.json: the title, the description, and a table of the
    inputs.
    """
    schema = document["schema"]["input"]
    properties = schema.get("properties") if isinstance(schema, dict) else None
    text = strict_json.repair_surrogates(f"# {name}\n\n{document['description']}\n")
    if not isinstance(properties, dict) or not properties:
        return text
    required = schema["required"] if isinstance(schema.get("required"), list) else []
    rows = [
        _row(key, value if isinstance(value, dict) else {}, key in required)
        for key, value in properties.items()
    ]
    table = ["| Input | Type | Required | Default | Description |", "|---|---|---|---|---|", *rows]
    return f"{text}\n## Inputs\n\n" + "\n".join(table) + "\n"


def _row(key: str, schema: JsonObject, required: bool) -> str:
    default = f"`{strict_json.compact_json(schema['default'])}`" if "default" in schema else ""
    cells = (
        f"`{key}`",
        _kind(schema),
        "yes" if required else "no",
        default,
        str(schema.get("description", "")),
    )
    row = " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return strict_json.repair_surrogates(f"| {row} |")


def _kind(schema: JsonObject) -> str:
    if "enum" in schema and isinstance(schema["enum"], list):
        return "one of " + ", ".join(
            f"`{strict_json.compact_json(value)}`" for value in schema["enum"]
        )
    kinds = schema.get("type", "any")
    return " or ".join(map(str, kinds)) if isinstance(kinds, list) else str(kinds)


def _python(name: str, given: Mapping[str, Any], directory: str) -> Draft:
    path, entrypoint = given.get("path"), given.get("entrypoint")
    if path is not None and not path.endswith(".py"):
        raise UsageError(f"{path!r} is no Python file: a python_script is a .py file")
    found = _existing(path, directory) if path is not None else None
    if found is not None:
        data = atomic.read_bytes(os.path.realpath(found))
        return _from_source(name, found, data, given)
    if entrypoint is not None and not entrypoint.isidentifier():
        raise UsageError(f"{entrypoint!r} can be no function's name")
    template = new_tool.python_template(
        name, entrypoint, given="schema" in given or "args" in given
    )
    script = path or f"{new_tool.function_name(name)}.py"
    derived = derive(template.script, template.entrypoint, path=script)
    fallback = _EMPTY if "args" in given else derived.input_schema
    schema = _schemas(
        given.get("schema"),
        fallback,
        None if "schema" in given or "args" in given else derived.output_schema,
    )
    document = _document(
        name, "python_script", {**_said(template), **given, "path": script, "schema": schema}
    )
    missing = (
        (f"there is no file {path} here: the tool's {script} is the template",)
        if path is not None
        else ()
    )
    return _draft(name, document, {script: TreeFile(data=template.script.encode())}, missing)


def _rust(name: str, given: Mapping[str, Any], directory: str) -> Draft:
    path, function = given.get("path"), given.get("entrypoint") or new_tool.function_name(name)
    files = {
        f"src/{file}": TreeFile(data=text.encode("utf-8"))
        for file, text in new_tool.rust_files(name, function).items()
    }
    schema = _schemas(given.get("schema"), _TEXT, _COUNTS)
    description = "Count the characters, words and lines of a text."
    if path is not None:
        if not path.endswith(".rs") or (found := _existing(path, directory)) is None:
            raise UsageError(
                f"{path!r} is not a file in Rust",
                hint="--path names a .rs file to copy into the tool",
            )
        files["src/tool.rs"] = TreeFile(data=atomic.read_bytes(os.path.realpath(found)))
        schema, description = _schemas(given.get("schema"), _EMPTY, None), ""
    said = {
        "description": description,
        **given,
        "path": "src/tool.rs",
        "entrypoint": function,
        "schema": schema,
    }
    return _draft(name, _document(name, "rust_function", said), files)


def _from_source(name: str, path: str, data: bytes, given: Mapping[str, Any]) -> Draft:
    source, script = _text(data, path), os.path.basename(path)
    entrypoint = given.get("entrypoint") or _only_function(source, name, path)
    derived = derive(source, entrypoint, path=path)
    fixed = given.get("args") or {}
    schema = _schemas(
        given.get("schema"), without_fixed(derived.input_schema, fixed), derived.output_schema
    )
    said = {
        "description": derived.description,
        **given,
        "path": script,
        "entrypoint": entrypoint,
        "schema": schema,
    }
    notes = (*derived.notes, *_left_behind(source, path))
    return _draft(
        name, _document(name, "python_script", said), {script: TreeFile(data=data)}, notes
    )


def without_fixed(schema: JsonObject, fixed: JsonObject) -> JsonObject:
    """Return the input schema without the inputs that fixed arguments fill: the model neither sees
    nor sets those.
    """
    properties = {key: value for key, value in schema["properties"].items() if key not in fixed}
    required = [key for key in schema.get("required", ()) if key not in fixed]
    changed = {**schema, "properties": properties, "required": required}
    return (
        changed if required else {key: value for key, value in changed.items() if key != "required"}
    )


def _shell(name: str, given: Mapping[str, Any], directory: str) -> Draft:
    path, files = given.get("path"), {}
    if path is not None:
        found = _existing(path, directory)
        if found is None:
            raise UsageError(
                f"there is no file {path}",
                hint="--path names a program to copy into the tool; --entrypoint one found on PATH",
            )
        path = os.path.basename(found)
        files[path] = TreeFile(data=atomic.read_bytes(os.path.realpath(found)), executable=True)
    inputs = _schemas(given.get("schema"), {}, None)["input"] or None
    template = new_tool.shell_template(inputs, given.get("args"), path or given.get("entrypoint"))
    schema = _schemas(given.get("schema"), template.input_schema, None)
    said = {
        **_said(template),
        **given,
        "schema": schema,
        "path": path,
        "entrypoint": None if path else template.entrypoint,
    }
    return _draft(name, _document(name, "shell_command", said), files)


def _http(name: str, given: Mapping[str, Any]) -> Draft:
    inputs = _schemas(given.get("schema"), {}, None)["input"] or None
    template = new_tool.http_template(inputs, given.get("args"), given.get("path"))
    schema = _schemas(given.get("schema"), template.input_schema, None)
    return _draft(
        name, _document(name, "http_request", {**_said(template), **given, "schema": schema}), {}
    )


def _in_process(name: str, given: Mapping[str, Any]) -> Draft:
    if unused := next((key for key in ("path", "entrypoint", "args") if key in given), None):
        raise UsageError(
            f"a tool without an implementation has no `{unused}`",
            hint="choose a type, or register a function that runs it",
        )
    document = {
        "name": name,
        "description": given.get("description", ""),
        "schema": _schemas(given.get("schema"), _EMPTY, None),
    }
    return _draft(name, document, {})


def _said(template: Template) -> JsonObject:
    return {
        "description": template.description,
        "path": template.path,
        "entrypoint": template.entrypoint,
        "args": template.args,
    }


def _document(name: str, type: str, said: Mapping[str, Any]) -> JsonObject:
    details = {
        "type": type,
        "path": said.get("path"),
        "entrypoint": said.get("entrypoint"),
        "args": said.get("args") or {},
    }
    return {
        "name": name,
        "description": said["description"],
        "schema": said["schema"],
        "implementation_details": {
            key: value for key, value in details.items() if value is not None
        },
    }


def _draft(
    name: str, document: JsonObject, files: Mapping[str, TreeFile], notes: tuple[str, ...] = ()
) -> Draft:
    if taken := {CONFIG_FILE, DESCRIPTION_FILE} & files.keys():
        raise UsageError(f"a tool's own file cannot be called {min(taken)}")
    return Draft(name=name, document=document, files=files, notes=notes)


def _schemas(given: JsonValue, inputs: JsonObject, output: JsonObject | None) -> JsonObject:
    """The `schema` of config.json: what the user gave as a pair, or as the schema of the inputs
    alone, before what is known.
    """
    if given is None:
        return {"input": inputs, **({"output": output} if output is not None else {})}
    pair = (
        isinstance(given, dict)
        and "input" in given
        and not {"type", "properties", "$ref", "$schema"} & given.keys()
    )
    return dict(given) if pair else {"input": given}


def _existing(path: str, directory: str) -> str | None:
    """The file that a user's path names, or None where a bare name names nothing yet."""
    found = os.path.join(directory, path)
    if os.path.isfile(found):
        return found
    if os.path.basename(path) != path:
        raise UsageError(f"there is no file {path}")
    return None


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
        return new_tool.function_name(name)  # derive says what is wrong with the file
    wanted = new_tool.function_name(name)
    public = [function for function in functions if not function.startswith("_")]
    if wanted in functions or len(public) != 1:
        return wanted
    return public[0]


def _left_behind(source: str, path: str) -> list[str]:
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
    advice = (
        "put it into the tool's directory, run the function where it stands (`--in-place`), "
        "or register it in-process"
    )
    return [
        f"it imports {module} from its own project, which is not copied: {advice}"
        for module in found
    ]


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
