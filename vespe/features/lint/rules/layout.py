"""Lint rules on files: directories, configurations, paths, entrypoints and programs; scripts are
parsed and never imported.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from vespe import defaults
from vespe.documents.near import listed
from vespe.documents.pointers import pointer_to
from vespe.errors import InvalidDocument, StorageError
from vespe.features.lint.base import AnyRule, Bounds, Found, Outline, Rule, SetRule, Subject
from vespe.files import atomic
from vespe.lazy import difflib, shutil
from vespe.schemas.explain import describe, short
from vespe.tools import built, fields, templates
from vespe.tools.python.names import parse_source, read_names

_DETAILS: Final = "/implementation_details"
_FIELDS: Final[dict[str, tuple[type, str]]] = {
    "description": (str, "a text"),
    "title": (str, "a text"),
    "strict": (bool, "true or false"),
    "annotations": (dict, "an object"),
    "outputSchema": (dict, "an object"),
}
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_PROGRAMS: dict[str, bool] = {}
"""Whether each program is on PATH: asked once a process."""


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


def _unreadable(subject: Subject) -> Iterator[Found]:
    if subject.document is None:
        for problem in subject.problems:
            yield Found(
                message=problem.message,
                pointer=problem.pointer,
                line=problem.line,
                fix="write strict JSON: an object, in UTF-8",
            )


def _one(about: str) -> Callable[[Subject], Iterator[Found]]:
    return lambda subject: _problems(subject, about)


def _kit_id(subject: Subject) -> Iterator[Found]:
    yield from _problems(subject, "kit-id")
    claimed = (
        subject.document.get("kit_id")
        if subject.api == "vespe" and isinstance(subject.document, dict)
        else None
    )
    if subject.kit_id is None and isinstance(claimed, str):
        yield Found(
            pointer="/kit_id",
            message=f"claims the kit {short(claimed)}, and is not in a kit",
            fix="take `kit_id` out",
            severity="warning",
        )


def _config(api: str) -> Callable[[Subject], Iterator[Found]]:
    def check(subject: Subject) -> Iterator[Found]:
        for problem in (
            subject.problems if subject.api == api and subject.document is not None else ()
        ):
            severity: Any = None if problem.file else "warning"
            yield Found(
                message=problem.message,
                pointer=problem.pointer,
                line=problem.line,
                severity=severity,
            )

    return check


def _description_file(subject: Subject) -> Iterator[Found]:
    if (
        subject.api == "vespe"
        and subject.directory
        and not os.path.isfile(f"{subject.directory}/{defaults.DESCRIPTION_FILE}")
    ):
        yield Found(
            message=f"has no {defaults.DESCRIPTION_FILE}",
            fix="write one: what the tool is for, for people",
        )


def _details(subject: Subject) -> dict[str, Any]:
    details = (
        subject.document.get("implementation_details")
        if subject.api == "vespe" and isinstance(subject.document, dict)
        else None
    )
    return details if isinstance(details, dict) else {}


def _entrypoint(subject: Subject) -> Iterator[Found]:
    details = _details(subject)
    path, entrypoint = details.get("path"), details.get("entrypoint")
    broken = any(p.pointer.startswith(_DETAILS) for p in subject.problems)
    if (
        details.get("type") != "python_script"
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
                f"or name one of {listed(names.functions, most=5) or 'its own'}",
            )


def _build(subject: Subject) -> Iterator[Found]:
    details = _details(subject)
    if subject.directory and not any(p.pointer.startswith(_DETAILS) for p in subject.problems):
        for message in built.stale(subject.directory, details):
            yield Found(
                message=message,
                pointer=f"{_DETAILS}/path",
                fix=f"compile it: `vespe tool build {subject.name}`",
            )


def _program(subject: Subject) -> Iterator[Found]:
    details = _details(subject)
    program = details.get("entrypoint")
    if (
        details.get("type") == "shell_command"
        and details.get("path") is None
        and isinstance(program, str)
        and program.isprintable()
        and program
    ):
        if program not in _PROGRAMS:
            _PROGRAMS[program] = "/" in program or shutil.which(program) is not None
        if not _PROGRAMS[program]:
            yield Found(
                pointer=f"{_DETAILS}/entrypoint",
                message=f"the program {short(program)} is not on PATH here",
                fix="install it, and say in description.md that the tool needs it",
            )


def _unknown_key(subject: Subject) -> Iterator[Found]:
    for key in (
        subject.document if subject.api == "vespe" and isinstance(subject.document, dict) else ()
    ):
        if key not in fields.KEYS and (
            close := difflib.get_close_matches(key, fields.KEYS, n=1, cutoff=0.75)
        ):
            yield Found(
                pointer=pointer_to((key,)),
                message=f"{short(key)} is not a key that Vespe reads",
                fix=f"did you mean {close[0]}?",
            )


def _unknown_slot(subject: Subject) -> Iterator[Found]:
    details = _details(subject)
    if details.get("type") not in ("shell_command", "http_request"):
        return
    names = templates.input_names(subject.input_schema)
    places = [(("path",), details.get("path")), (("args",), details.get("args"))]
    for steps, text in (found for at, value in places for found in _texts(value, at)):
        for name in templates.parse(text, names).unknown if "{" in text else ():
            close = difflib.get_close_matches(name, names, n=1)
            yield Found(
                pointer=_DETAILS + pointer_to(steps),
                message=f"{{{name}}} names no input, so it stays as it is",
                fix=f"did you mean {{{close[0]}}}?"
                if close
                else f"add {short(name)} to the schema's properties",
            )


def _texts(value: Any, steps: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield steps, value
    elif isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(item, (*steps, key))


def _same_uid(outlines: Sequence[Outline], bounds: Bounds) -> Iterator[tuple[int, Found]]:
    first: dict[str, Outline] = {}
    for index, outline in enumerate(outlines):
        uid = os.path.basename(outline.directory or "")
        other = first.setdefault(uid, outline) if uid else outline
        if other is not outline:
            yield (
                index,
                Found(
                    pointer="/uid",
                    message=f"the scope {other.scope} has a tool of the uid {uid} too",
                    fix="copy the tool with `vespe tool copy`, which gives a new uid",
                ),
            )


def _definition_fields(subject: Subject) -> Iterator[Found]:
    """Judge the types of the other keys of a foreign definition, as the vendors' own types say
    them.
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


def _nothing(subject: Subject) -> Iterator[Found]:
    """What the audit itself tells: only it knows which rules were asked, and what a file held."""
    return iter(())


def _rule(
    code: str,
    severity: Any,
    title: str,
    check: Callable[[Subject], Iterator[Found]],
    *,
    why: str,
    examples: tuple[str, str],
) -> Rule:
    return Rule(
        code=code,
        family="layout",
        severity=severity,
        title=title,
        rationale=why,
        bad=examples[0],
        good=examples[1],
        check=check,
    )


RULES: Final[tuple[AnyRule, ...]] = (
    _rule(
        "layout-unreadable",
        "error",
        "A file cannot be read, or is not strict JSON",
        _unreadable,
        why="Vespe reads strict JSON in UTF-8: no duplicate keys, NaN, comments, "
        "byte order mark or lone surrogates, at most 64"
        " levels and 1 MiB; and regular files, never links, FIFOs or devices.",
        examples=('{"name": "a", "name": "b"}', '{"name": "a"}'),
    ),
    _rule(
        "layout-unrecognised",
        "error",
        "A definition in no shape that Vespe knows",
        _nothing,
        why="OpenAI, Anthropic, Gemini, Ollama and MCP definitions are recognised by their keys; "
        "what has none of them is not a tool.",
        examples=(
            '[{"tool_name": "a"}]',
            '[{"name": "a", "description": "…", "inputSchema": {"type": "object"}}]',
        ),
    ),
    _rule(
        "layout-definition",
        "error",
        "A key of a definition has a value of the wrong type",
        _definition_fields,
        why="The vendors' own types say it, and their APIs and clients refuse the whole request.",
        examples=('"description": ["Read a file."]', '"description": "Read a file."'),
    ),
    _rule(
        "layout-uid",
        "error",
        "The uid is not the directory's name, or is not a uid",
        _one("uid"),
        why="A tool is found by its directory, and its uid must say the same.",
        examples=('tool-a/config.json: {"uid": "tool-b"}', 'tool-a/config.json: {"uid": "tool-a"}'),
    ),
    _rule(
        "layout-kit-id",
        "error",
        "`kit_id` is not the kit that the tool stands in",
        _kit_id,
        why="A tool that was copied from one kit to another, or to a project, "
        "still claims the first.",
        examples=('kits/files/tool-a: {"kit_id": "web"}', 'kits/files/tool-a: {"kit_id": "files"}'),
    ),
    _rule(
        "layout-kit-limits",
        "error",
        "A tool goes beyond what its kit states that its tools may use",
        _one("kit-limits"),
        why="`allow_types`, `allow_hosts` and `secrets` in kit_config.json are what people read "
        "before they install the kit. With such"
        " a tool the kit does not become active.",
        examples=(
            '"secrets": ["API_KEY"], in a kit with "secrets": []',
            '"secrets": ["API_KEY"], in a kit with "secrets": ["API_KEY"]',
        ),
    ),
    _rule(
        "layout-path",
        "error",
        "A tool's own file is missing, or is not inside its directory",
        _one("path"),
        why="`path` is relative, without . and .., and names a regular file, "
        "which for a shell_command is executable.",
        examples=('"path": "../run.py"', '"path": "run.py"'),
    ),
    _rule(
        "layout-entrypoint",
        "error",
        "The script has no such function, or is not Python",
        _entrypoint,
        why="The script is parsed and never imported: "
        "the function must stand at the top of the file.",
        examples=('"entrypoint": "serach"', '"entrypoint": "search"'),
    ),
    _rule(
        "layout-build",
        "error",
        "A compiled tool's module is not what its source says",
        _build,
        why="People read the source, and the module is what runs: build.json has the digests of "
        "both, and each must hold.",
        examples=(
            "src/tool.rs changed, tool.wasm as it was",
            "`vespe tool build` after each change",
        ),
    ),
    _rule(
        "layout-implementation",
        "error",
        "`implementation_details` cannot run",
        _one("implementation"),
        why="Each type has its own keys; secrets stand in `args` alone and "
        "are declared in `secrets`.",
        examples=('{"type": "shell"}', '{"type": "shell_command", "entrypoint": "git"}'),
    ),
    _rule(
        "layout-field",
        "error",
        "A key of config.json has a value of the wrong type",
        _one("field"),
        why="Listing, running and serving all read these keys, and refuse the tool.",
        examples=('"tags": "files"', '"tags": ["files"]'),
    ),
    _rule(
        "layout-kit-config",
        "error",
        "A kit_config.json that Vespe refuses",
        _config("kit"),
        why="`kit_id` is the directory's name; a broken kit hides all its tools.",
        examples=(
            'web/kit_config.json: {"kit_id": "Web"}',
            'web/kit_config.json: {"kit_id": "web"}',
        ),
    ),
    _rule(
        "layout-project-config",
        "error",
        "A project's config.json that Vespe refuses or warns of",
        _config("project"),
        why="Nothing runs in a project whose configuration is refused. "
        "A kit that this machine does not have, or a key that only"
        " the user may set, is a warning.",
        examples=('{"active_kits": "web"}', '{"active_kits": ["web"]}'),
    ),
    _rule(
        "layout-lint-config",
        "error",
        "The configuration of lint says what it cannot",
        _nothing,
        why="Every ignore has its reason; codes, severities and targets are those that lint knows.",
        examples=(
            '"lint": {"ignore": {"schema-open": ""}}',
            '"lint": {"ignore": {"schema-open": "any header may be sent"}}',
        ),
    ),
    _rule(
        "layout-view",
        "error",
        "What a project shows models of a tool does not fit the tool",
        _nothing,
        why="A call with a preset that the schema refuses fails each time, "
        "and a hidden argument that is required cannot be given.",
        examples=(
            '"tools": {"count": {"preset": {"limit": "ten"}}}',
            '"tools": {"count": {"preset": {"limit": 10}}}',
        ),
    ),
    _rule(
        "layout-unused-ignore",
        "warning",
        "An ignore that nothing needs",
        _nothing,
        why="It would hide the next fault of its kind.",
        examples=(
            '"lint": {"ignore": {"schema-bomb": "it is large"}}, of a small schema',
            '"lint": {}',
        ),
    ),
    _rule(
        "layout-description-file",
        "warning",
        "A tool has no description.md",
        _description_file,
        why="The long text for people: what the tool is for, needs and changes.",
        examples=("tool-a/config.json alone", "tool-a/description.md beside it"),
    ),
    _rule(
        "layout-program",
        "warning",
        "The program is not on PATH",
        _program,
        why="The tool cannot run on this machine; elsewhere it may.",
        examples=('"entrypoint": "pdftotxt"', '"entrypoint": "pdftotext"'),
    ),
    _rule(
        "layout-unknown-key",
        "warning",
        "A key that looks like a known one, but is not",
        _unknown_key,
        why="Unknown keys are kept and passed over, so that a misspelt one does nothing, silently.",
        examples=('"secret": ["TOKEN"]', '"secrets": ["TOKEN"]'),
    ),
    _rule(
        "layout-unknown-slot",
        "warning",
        "Braces that name no input",
        _unknown_slot,
        why="They are sent as they stand.",
        examples=('"argv": ["{fille}"]', '"argv": ["{file}"]'),
    ),
    SetRule(
        code="layout-same-uid",
        family="layout",
        severity="error",
        title="A uid that another active scope has too",
        rationale="A uid is unique within all scopes of a project: by uid, either could be meant.",
        bad=".vespe/tools/tool-a and kits/files/tool-a",
        good=".vespe/tools/tool-b and kits/files/tool-a",
        check=_same_uid,
    ),
)
