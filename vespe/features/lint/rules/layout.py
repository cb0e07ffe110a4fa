"""Lint rules on files: directories, configurations, paths, entrypoints and programs; scripts are
parsed and never imported.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any, Final

from vespe import defaults
from vespe.documents.near import choice, join_words
from vespe.documents.pointers import pointer_to
from vespe.errors import InvalidDocument, StorageError
from vespe.features.lint.base import Bounds, Found, Outline, Subject, rule, set_rule
from vespe.features.lint.type_remarks import remarks_of
from vespe.files import atomic
from vespe.lazy import difflib
from vespe.schemas.explain import describe, short
from vespe.tool_types import type_in
from vespe.tools import built, fields, slots
from vespe.tools.python.names import parse_source, read_names

_DETAILS: Final = "/implementation_details"
_FIELDS: Final[dict[str, tuple[type, str]]] = {
    "description": (str, "a string"),
    "title": (str, "a string"),
    "strict": (bool, "true or false"),
    "annotations": (dict, "an object"),
    "outputSchema": (dict, "an object"),
}
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


_RULE_OF: Final = {
    "secret": "implementation",
    "implementation_details": "implementation",
    "name": "",
    "schema": "",
    "uid": "uid",
    "kit_limits": "kit-limits",
    "kit_id": "kit-id",
    "path": "path",
}
"""Which rule speaks of a problem that the one validator found, by its code; "" for those of other
families.
"""


def _problems(subject: Subject, about: str) -> Iterator[Found]:
    if subject.api == "vespe" and subject.document is not None:
        for problem in subject.problems:
            if _RULE_OF.get(problem.code, "field") == about:
                yield Found(message=problem.message, pointer=problem.pointer, line=problem.line)


def _of_kit(subject: Subject) -> str:
    """Return the option by which a command takes a tool of a kit."""
    return f" --kit {subject.kit_id}" if subject.kit_id else ""


@rule("layout-unreadable", "error")
def _unreadable(subject: Subject) -> Iterator[Found]:
    """A file cannot be read, or is not strict JSON.

    Vespe reads strict JSON in UTF-8: no duplicate keys, NaN, comments, byte order mark or lone
    surrogates, and at most 64 levels and 1 MiB. It reads only regular files, not links, FIFOs or
    devices.

    Bad: {"name": "a", "name": "b"}
    Good: {"name": "a"}
    """
    if subject.document is None:
        for problem in subject.problems:
            yield Found(
                message=problem.message,
                pointer=problem.pointer,
                line=problem.line,
                fix="write strict JSON: an object, in UTF-8",
            )


@rule("layout-unrecognised", "error")
def _unrecognised(subject: Subject) -> Iterator[Found]:
    """The format of a definition is not recognized.

    Definitions for OpenAI, Anthropic, Gemini, Ollama and MCP are recognized by their keys. An
    object with none of these keys is not a tool.

    Bad: [{"tool_name": "a"}]
    Good: [{"name": "a", "description": "…", "inputSchema": {"type": "object"}}]
    """
    return iter(())  # the audit itself finds it


@rule("layout-definition", "error")
def _definition_fields(subject: Subject) -> Iterator[Found]:
    """A key of a definition has a value of the wrong type.

    The types are those of the vendors. Their APIs and clients refuse the whole request if one value
    has another type.

    Bad: "description": ["Read a file."]
    Good: "description": "Read a file."
    """
    document = (
        subject.document
        if subject.api not in ("vespe", "kit", "project") and isinstance(subject.document, dict)
        else {}
    )
    inner = document.get("function", document)
    for key, (kinds, what) in _FIELDS.items():
        if (
            isinstance(inner, dict)
            and inner.get(key) is not None
            and not isinstance(inner[key], kinds)
        ):
            part = key if key in subject.pointers else ""
            fix = f"write {what}" if key != "outputSchema" else "write a JSON Schema of type object"
            yield Found(
                part=part, message=f"`{key}` must be {what}, not {describe(inner[key])}", fix=fix
            )
    annotations = inner.get("annotations") if isinstance(inner, dict) else None
    hints: dict[str, Any] = annotations if isinstance(annotations, dict) else {}
    for hint in _HINTS:
        if hint in hints and not isinstance(hints[hint], bool):
            message = f"`annotations.{hint}` must be true or false, not {describe(hints[hint])}"
            yield Found(
                part="annotations", pointer=f"/{hint}", message=message, fix="write true or false"
            )


@rule("layout-uid", "error")
def _uid(subject: Subject) -> Iterator[Found]:
    """The uid is not the directory's name, or is not a uid.

    A tool is found by its directory, so its uid must be the directory's name.

    Bad: tool-a/config.json: {"uid": "tool-b"}
    Good: tool-a/config.json: {"uid": "tool-a"}
    """
    return _problems(subject, "uid")


@rule("layout-kit-id", "error")
def _kit_id(subject: Subject) -> Iterator[Found]:
    """`kit_id` is not the kit that contains the tool.

    This happens when a tool is copied from one kit to another kit or to a project.

    Bad: kits/files/tool-a: {"kit_id": "web"}
    Good: kits/files/tool-a: {"kit_id": "files"}
    """
    yield from _problems(subject, "kit-id")
    claimed = (
        subject.document.get("kit_id")
        if subject.api == "vespe" and isinstance(subject.document, dict)
        else None
    )
    if subject.kit_id is None and isinstance(claimed, str):
        yield Found(
            pointer="/kit_id",
            message=f"names the kit {short(claimed)}, but the tool is not in a kit",
            fix="remove `kit_id`",
            severity="warning",
        )


@rule("layout-kit-limits", "error")
def _kit_limits(subject: Subject) -> Iterator[Found]:
    """A tool exceeds what its kit declares.

    People read `allow_types`, `allow_hosts` and `secrets` in kit_config.json before they install
    the kit. A kit with a tool that exceeds them cannot be activated.

    Bad: "secrets": ["API_KEY"], in a kit with "secrets": []
    Good: "secrets": ["API_KEY"], in a kit with "secrets": ["API_KEY"]
    """
    return _problems(subject, "kit-limits")


@rule("layout-path", "error")
def _path(subject: Subject) -> Iterator[Found]:
    """A tool's own file is missing, or is not inside its directory.

    `path` must be relative, without . and .., and name a regular file. For a shell_command, the
    file must be executable.

    Bad: "path": "../run.py"
    Good: "path": "run.py"
    """
    return _problems(subject, "path")


@rule("layout-entrypoint", "error")
def _entrypoint(subject: Subject) -> Iterator[Found]:
    """The script has no such function, or is not Python.

    Lint parses the script and does not import it, so the function must be defined at the top level
    of the file.

    Bad: "entrypoint": "serach"
    Good: "entrypoint": "search"
    """
    details = _details(subject)
    path, entrypoint = details.get("path"), details.get("entrypoint")
    broken = any(p.pointer.startswith(_DETAILS) for p in subject.problems)
    kind = type_in(details)
    if (
        kind is None
        or not kind.is_python
        or not isinstance(path, str)
        or not isinstance(entrypoint, str)
        or broken
    ):
        return
    try:
        names = read_names(
            parse_source(atomic.read_bytes(f"{subject.directory}/{path}").decode("utf-8"))
        )
    except SyntaxError as error:
        yield Found(
            message=f"{path} is not Python: {error.msg}",
            file=path,
            line=error.lineno or 1,
            column=error.offset or 1,
        )
    except (ValueError, RecursionError, MemoryError, InvalidDocument, StorageError) as error:
        yield Found(message=f"{path} cannot be read: {error}", file=path)
    else:
        if not {entrypoint} & (
            names.functions.keys()
            | names.classes.keys()
            | names.values.keys()
            | names.imports.keys()
        ):
            close = difflib.get_close_matches(entrypoint, names.functions, n=1)
            yield Found(
                pointer=f"{_DETAILS}/entrypoint",
                message=f"{path} has no function called {short(entrypoint)}",
                fix=f"did you mean {close[0]}?"
                if close
                else "write the function, "
                f"or name one of {join_words(names.functions, most=5) or 'its own'}",
            )


@rule("layout-build", "error")
def _build(subject: Subject) -> Iterator[Found]:
    """A compiled tool's module does not match its source.

    People review the source, but the module runs. build.json contains the digests of both, and both
    must match.

    Bad: src/tool.rs changed, tool.wasm as it was
    Good: `vespe tool build` after each change
    """
    details = _details(subject)
    if subject.directory and not any(p.pointer.startswith(_DETAILS) for p in subject.problems):
        for message in built.stale(subject.directory, details):
            yield Found(
                message=message,
                pointer=f"{_DETAILS}/path",
                fix=f"compile it: `vespe tool build {subject.name}{_of_kit(subject)}`",
            )


@rule("layout-implementation", "error")
def _implementation(subject: Subject) -> Iterator[Found]:
    """`implementation_details` cannot run.

    Each type has its own keys. Secrets are only allowed in `args`, and must be declared in
    `secrets`.

    Bad: {"type": "shell"}
    Good: {"type": "shell_command", "entrypoint": "git"}
    """
    return _problems(subject, "implementation")


@rule("layout-field", "error")
def _field(subject: Subject) -> Iterator[Found]:
    """A key of config.json has a value of the wrong type.

    These keys are read when tools are listed, run and served. The tool is refused each time.

    Bad: "tags": "files"
    Good: "tags": ["files"]
    """
    return _problems(subject, "field")


@rule("layout-kit-config", "error")
def _kit_config(subject: Subject) -> Iterator[Found]:
    """Vespe refuses a kit_config.json.

    For example, `kit_id` must be the directory's name. None of the tools of such a kit are
    available.

    Bad: web/kit_config.json: {"kit_id": "Web"}
    Good: web/kit_config.json: {"kit_id": "web"}
    """
    return _config_problems(subject, "kit")


@rule("layout-project-config", "error")
def _project_config(subject: Subject) -> Iterator[Found]:
    """Vespe refuses a project's config.json, or warns about it.

    If the configuration is refused, nothing runs in the project. A kit that is missing on this
    machine, or a key that only the user may set, is a warning.

    Bad: {"active_kits": "web"}
    Good: {"active_kits": ["web"]}
    """
    return _config_problems(subject, "project")


@rule("layout-lint-config", "error")
def _lint_config(subject: Subject) -> Iterator[Found]:
    """The lint configuration is invalid.

    Every ignore needs a reason. Codes, severities and targets must be known to lint.

    Bad: "lint": {"ignore": {"schema-open": ""}}
    Good: "lint": {"ignore": {"schema-open": "any header may be sent"}}
    """
    return iter(())  # the audit itself finds it


@rule("layout-view", "error")
def _view(subject: Subject) -> Iterator[Found]:
    """The project's `tools` setting does not fit a tool.

    If the schema refuses a preset, every call fails. If a required argument is hidden, models
    cannot pass it.

    Bad: "tools": {"count": {"preset": {"limit": "ten"}}}
    Good: "tools": {"count": {"preset": {"limit": 10}}}
    """
    return iter(())  # the audit itself finds it


@rule("layout-unused-ignore", "warning")
def _unused_ignore(subject: Subject) -> Iterator[Found]:
    """An ignore is not needed.

    It would hide the next problem of its kind.

    Bad: "lint": {"ignore": {"schema-bomb": "it is large"}}, of a small schema
    Good: "lint": {}
    """
    return iter(())  # the audit itself finds it


def _config_problems(subject: Subject, api: str) -> Iterator[Found]:
    for problem in subject.problems if subject.api == api and subject.document is not None else ():
        yield Found(
            message=problem.message,
            pointer=problem.pointer,
            line=problem.line,
            severity=None if problem.file else "warning",
        )


@rule("layout-description-file", "warning")
def _description_file(subject: Subject) -> Iterator[Found]:
    """A tool has no description.md.

    description.md tells people what the tool is for, what it needs and what it changes.

    Bad: tool-a/config.json alone
    Good: tool-a/description.md beside it
    """
    if (
        subject.api == "vespe"
        and subject.directory
        and not os.path.isfile(f"{subject.directory}/{defaults.DESCRIPTION_FILE}")
    ):
        yield Found(
            message=f"has no {defaults.DESCRIPTION_FILE}",
            fix="write one that tells people what the tool is for",
        )


def _details(subject: Subject) -> dict[str, Any]:
    details = (
        subject.document.get("implementation_details")
        if subject.api == "vespe" and isinstance(subject.document, dict)
        else None
    )
    return details if isinstance(details, dict) else {}


@rule("layout-program", "warning")
def _program(subject: Subject) -> Iterator[Found]:
    """The program is not on PATH.

    The tool cannot run on this machine. It may run on others.

    Bad: "entrypoint": "pdftotxt"
    Good: "entrypoint": "pdftotext"
    """
    return remarks_of(subject, "layout-program")


@rule("layout-unknown-key", "warning")
def _unknown_key(subject: Subject) -> Iterator[Found]:
    """A key looks like a misspelt known key, or `args` has a key that its type does not know.

    Unknown keys are kept and ignored, so a misspelt key silently has no effect.

    Bad: "secret": ["TOKEN"]
    Good: "secrets": ["TOKEN"]
    """
    for key in (
        subject.document if subject.api == "vespe" and isinstance(subject.document, dict) else ()
    ):
        if key not in fields.FIELDS and (
            close := difflib.get_close_matches(key, fields.FIELDS, n=1, cutoff=0.75)
        ):
            yield Found(
                pointer=pointer_to((key,)),
                message=f"{short(key)} is not a key that Vespe reads",
                fix=f"did you mean {close[0]}?",
            )
    details = _details(subject) if subject.api == "vespe" else {}
    kind, args = type_in(details), details.get("args")
    known = kind.form().args if kind is not None and not kind.form().closed else {}
    for key in sorted(args.keys() - known.keys()) if known and isinstance(args, dict) else ():
        yield Found(
            pointer=_DETAILS + pointer_to(("args", key)),
            message=f"{short(key)} is not a key of `args` that Vespe reads",
            fix=choice(key, known),
        )


@rule("layout-unknown-slot", "warning")
def _unknown_slot(subject: Subject) -> Iterator[Found]:
    """Braces do not contain the name of an input.

    Such braces are sent unchanged.

    Bad: "argv": ["{fille}"]
    Good: "argv": ["{file}"]
    """
    for steps, name, near in slots.unknown(_details(subject), subject.input_schema):
        yield Found(
            pointer=_DETAILS + pointer_to(steps),
            message=f"{{{name}}} is not the name of an input, so it is not replaced",
            fix=f"did you mean {{{near}}}?"
            if near
            else f"add {short(name)} to the schema's properties",
        )


@set_rule("layout-same-uid", "error")
def _same_uid(outlines: Sequence[Outline], bounds: Bounds) -> Iterator[tuple[int, Found]]:
    """Two active scopes contain the same uid.

    A uid must be unique within a project; otherwise it does not identify one tool.

    Bad: .vespe/tools/tool-a and kits/files/tool-a
    Good: .vespe/tools/tool-b and kits/files/tool-a
    """
    same: dict[str, list[int]] = {}
    for index, outline in enumerate(outlines):
        if uid := os.path.basename(outline.directory or ""):
            same.setdefault(uid, []).append(index)
    for uid, places in same.items():
        # Whichever scope comes first, the finding is about a tool that is linted.
        linted = [index for index in places if outlines[index].linted]
        beside = [index for index in places if not outlines[index].linted]
        for index in linted if beside else linted[1:]:
            other = outlines[beside[0] if beside and index == linted[0] else linted[0]]
            yield (
                index,
                Found(
                    pointer="/uid",
                    message=f"the scope {other.scope} also has a tool with the uid {uid}",
                    fix="copy the tool with `vespe tool copy`, which assigns a new uid",
                ),
            )
