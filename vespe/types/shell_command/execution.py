"""Run a program with an argv made of templates: no shell, and no value that becomes an option or a
second argument.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from vespe import defaults
from vespe.calls import asking
from vespe.calls.secrets import redact
from vespe.documents import strict_json
from vespe.documents.pointers import pointer_to
from vespe.errors import (
    InvalidArguments,
    InvalidDocument,
    InvalidOutput,
    InvalidTool,
    ToolExecutionError,
    VespeError,
)
from vespe.models import Execution, Implementation, JsonObject, JsonValue, Tool
from vespe.processes import ask_channel, process
from vespe.records import dataclass
from vespe.tool_types import Context, Executor
from vespe.tools import templates

_MAX_ELEMENT_BYTES: Final = 128 * 1024 - 1
"""What Linux takes as one argument, without the NUL that ends it."""
_SHOWN_BYTES: Final = 8 * 1024
"""How much of each stream a failure keeps in its details."""
_SAID_LINES, _SAID_CHARACTERS = 10, 1000


class ShellCommand:
    """`shell_command`: an executable file of the tool's directory, or a program on PATH, with
    `args` as the design says.

    `argv` is a list of templates, `stdin` a template or `"json"` (the inputs as one line of JSON),
    `cwd` `project` or `tool`, `output` `text` (stdout as it is, its last newline too), `json` or
    `lines`, `success_codes` by default 0 alone.
    """

    def plan(self, tool: Tool, inputs: JsonObject, context: Context) -> JsonObject:
        """Return `argv`, `cwd`, `stdin` (null: empty), `output` and `success_codes`; secrets stand
        as `${env:NAME}`.
        """
        form = _form(tool)
        filled = _Filled(tool, inputs, None)
        return {
            "argv": [_program(tool, context), *filled.argv(form.argv)],
            "cwd": _directory(form, context),
            "stdin": filled.stdin(form.stdin),
            "output": form.output,
            "success_codes": list(form.success_codes),
        }

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Run the program to its end and read its stdout; what it wrote to stderr is the log.

        Raises InvalidArguments before anything starts, InvalidTool (`args` of a wrong type, a
        `path` that cannot run), ToolExecutionError (an exit status that is no success, a signal, a
        program that does not start), InvalidOutput (no JSON where `output` says so),
        OutputTooLarge, TimedOut, Interrupted, NeedsInput (it asks, and nobody can be asked).
        """
        form = _form(tool)
        filled = _Filled(tool, inputs, context.secrets)
        nobody = asking.NobodyAsked(tool.name)
        questions = context.questions or nobody
        command = process.Command(
            argv=[_program(tool, context), *filled.argv(_approved(form.argv, tool, context))],
            cwd=_directory(form, context),
            env={**context.environment, **ask_channel.variables(questions)},
            stdin=(filled.stdin(form.stdin) or "").encode("utf-8", "surrogateescape"),
            timeout_s=context.timeout_s,
            sandbox=context.sandbox,
            workers=context.workers,
            questions=questions,
        )
        try:
            finished = process.run(command, cancel=context.cancel)
        except VespeError:
            nobody.check()
            raise
        nobody.check()
        if finished.returncode not in form.success_codes:
            name = "" if _is_in_place(tool) else _name_of(command.argv)
            raise _failure(name, finished, context.secrets)
        if form.output == "json":
            return Execution(
                result=_json(finished.stdout, context.secrets),
                logs=_stderr(finished),
                notes=finished.notes,
            )
        text, notes = _text(finished.stdout)
        result = _lines(text) if form.output == "lines" else text
        return Execution(result=result, logs=_stderr(finished), notes=(*finished.notes, *notes))


EXECUTOR: Final[Executor] = ShellCommand()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """`args` as a shell_command takes them."""

    argv: list[Any] = field(default_factory=list)
    stdin: str = ""
    cwd: str = "project"
    output: str = "text"
    success_codes: tuple[int, ...] = (0,)


def _form(tool: Tool) -> _Form:
    """Read `args`; keys of others are let be. Raises InvalidTool with each key that has the wrong
    type.
    """
    args = _implementation(tool).args
    wrong = [
        f"`args.{key}` must be {wanted}"
        for key, (fits, wanted) in _KEYS.items()
        if key in args and not fits(args[key])
    ]
    if wrong:
        raise InvalidTool(tool.uid, wrong, path=tool.directory or "")
    known = {key: args[key] for key in _KEYS if key in args}
    return _Form(**known | {"success_codes": tuple(known.get("success_codes", (0,)))})


def _is_argv(value: JsonValue) -> bool:
    return isinstance(value, list) and all(
        (isinstance(item, str) and "\0" not in item) or _is_argv(item) for item in value
    )


def _are_codes(value: JsonValue) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, int) and not isinstance(item, bool) for item in value
    )


_KEYS: Final = {
    "argv": (_is_argv, "a list of strings without NUL, and of such lists"),
    "stdin": (lambda value: isinstance(value, str), 'a string, or "json"'),
    "cwd": (lambda value: value in ("project", "tool"), '"project" or "tool"'),
    "output": (lambda value: value in ("text", "json", "lines"), '"text", "json" or "lines"'),
    "success_codes": (_are_codes, "a list of integers"),
}


def _implementation(tool: Tool) -> Implementation:
    if tool.implementation is None:
        raise InvalidTool(tool.uid, ["has no `implementation_details`"], path=tool.directory or "")
    return tool.implementation


def _program(tool: Tool, context: Context) -> str:
    """Return the executable file's path, or the name that is looked for on the child's PATH."""
    implementation = _implementation(tool)
    if implementation.path is not None:
        return _own_program(tool, implementation.path, context.directory)
    name = implementation.entrypoint
    if not name:
        raise InvalidTool(
            tool.uid,
            ["needs `path`, a file in the tool's directory, or `entrypoint`, a program"],
            path=tool.directory or "",
        )
    if "/" in name or "\0" in name or name in (".", ".."):
        sentence = (
            f"`entrypoint` is the name of a program on PATH, without slashes, not {name!r}; "
            "a file of the tool's own is its `path`"
        )
        raise InvalidTool(tool.uid, [sentence], path=tool.directory or "")
    return name


def _own_program(tool: Tool, path: str, directory: str) -> str:
    """Find the tool's own program; the sentences name it as the tool's author does, not the private
    copy that runs.
    """
    program, problem = os.path.join(directory, path), ""
    if "\0" in path or not os.path.realpath(program).startswith(
        os.path.join(os.path.realpath(directory), "")
    ):
        problem = f"`path` leaves the tool's directory: {path!r}"
    elif not os.path.isfile(program):
        problem = f"`path` is not a file in the tool's directory: {path!r}"
    elif not os.access(program, os.X_OK):
        problem = f"{path} is not executable; `chmod +x {path}` makes it so"
    if problem:
        raise InvalidTool(tool.uid, [problem], path=tool.directory or "")
    return program


def _approved(items: list[Any], tool: Tool, context: Context) -> list[Any]:
    """Let elements that name files of the tool's own directory, from the project's root, name them
    in its approved copy.
    """
    own = os.path.join(
        defaults.PROJECT_DIR, defaults.TOOLS_DIR, os.path.basename(context.directory)
    )
    if tool.scope != defaults.PROJECT_TOOLS or context.directory == os.path.join(
        context.project_root, own
    ):
        return items
    there = rf"(?<![\w./-])(?:{re.escape(context.project_root)}/+|(?:\./+)*){re.escape(own)}(?=/|$)"
    return [
        re.sub(there, lambda _: context.directory, item)
        if isinstance(item, str)
        else _approved(item, tool, context)
        for item in items
    ]


def _directory(form: _Form, context: Context) -> str:
    return context.directory if form.cwd == "tool" else context.project_root


class _Filled:
    """One call's inputs put into the templates of `args`."""

    def __init__(self, tool: Tool, inputs: JsonObject, secrets: Mapping[str, str] | None) -> None:
        self.names = templates.input_names(tool.input_schema)
        self.inputs = inputs
        self.secrets = secrets
        self.elements: list[str] = []
        self.options_ended = False

    def argv(self, items: list[Any]) -> list[str]:
        """Return the elements after the program; raises InvalidArguments for a value that fits no
        element.
        """
        for item in items:
            if not isinstance(item, list):
                self._add(item)
            elif all(self._is_given(part) for part in item):
                self.argv(item)
        return self.elements

    def stdin(self, text: str) -> str | None:
        """Return what the program reads; None where that is nothing, or an input of the template is
        absent.
        """
        if text == "json":
            return strict_json.compact_json(self.inputs) + "\n"
        template = templates.parse(text, self.names)
        filled = template.render(self.inputs, secrets=self.secrets)
        for name in template.slots if filled else ():
            if _has_surrogate(templates.value_text(self.inputs[name])):
                raise _refused((name,), "contains a lone surrogate, which UTF-8 cannot encode")
        return filled or None

    def _is_given(self, part: Any) -> bool:
        """Whether a group keeps this part: an inner group decides for itself, an empty list has
        nothing to give.
        """
        if isinstance(part, list):
            return True
        template = templates.parse(part, self.names)
        return all(name in self.inputs for name in template.slots) and (
            template.whole is None or self.inputs[template.whole] != []
        )

    def _add(self, text: str) -> None:
        template = templates.parse(text, self.names)
        whole = template.whole
        if whole is not None and isinstance(self.inputs.get(whole), list):
            for index, item in enumerate(self.inputs[whole]):
                self._append(templates.value_text(item), template, {(whole, index): item})
            return
        element = template.render(self.inputs, secrets=self.secrets)
        if element is not None:
            self._append(element, template, {(name,): self.inputs[name] for name in template.slots})
        self.options_ended = self.options_ended or text == "--"

    def _append(
        self,
        element: str,
        template: templates.Template,
        values: Mapping[tuple[str | int, ...], JsonValue],
    ) -> None:
        """Add one element; `values` are the inputs in it, by their places."""
        texts = {place: templates.value_text(value) for place, value in values.items()}
        for place, text in texts.items():
            if "\0" in text:
                raise _refused(
                    place,
                    "contains a NUL character, which is not allowed in an argument of a program",
                )
            if _has_surrogate(text):
                raise _refused(place, "contains a lone surrogate, which UTF-8 cannot encode")
        if texts and len(element.encode("utf-8", "surrogatepass")) > _MAX_ELEMENT_BYTES:
            longest = max(texts, key=lambda place: len(texts[place]))
            raise _refused(
                longest,
                f"makes an argument of more than {_MAX_ELEMENT_BYTES} bytes, which is the maximum",
            )
        if texts and not self.options_ended and _dashes(element) > _dashes(self._lead(template)):
            first = next((place for place, text in texts.items() if text), next(iter(texts)))
            raise _option(first, texts[first])
        self.elements.append(element)

    def _lead(self, template: templates.Template) -> str:
        """What the tool's author, or the user's secret, put first; a slot there leaves the first
        word to the model.
        """
        first = template.pieces[0]
        if isinstance(first, templates.Secret):
            return (self.secrets or {}).get(first.name, "")
        return first if isinstance(first, str) else ""


def _dashes(text: str) -> int:
    """Count the dashes that make a text an option: none, one, or two and more."""
    return 2 if text.startswith("--") else int(text.startswith("-"))


def _has_surrogate(text: str) -> bool:
    return strict_json.repair_surrogates(text) != text


def _refused(place: tuple[str | int, ...], why: str, *, hint: str = "") -> InvalidArguments:
    name = f"{place[0]!r}" + "".join(f"[{index}]" for index in place[1:])
    sentence = f"the input {name} {why}"
    return InvalidArguments(
        sentence, violations=[{"pointer": pointer_to(place), "message": sentence}], hint=hint
    )


def _option(place: tuple[str | int, ...], text: str) -> InvalidArguments:
    shown = text if len(text) <= 60 else f"{text[:60]}…"
    return _refused(
        place,
        f"is {shown!r}, which the program would read as an option, because it begins with a "
        "dash; begin it with something else (for a file: ./-name)",
        hint=f'the tool\'s author can let it through: "--{place[0]}={{{place[0]}}}" as one '
        f'element, or "{{{place[0]}}}" after "--"',
    )


def _name_of(argv: Sequence[str]) -> str:
    """Return what the program is called; behind `env` and its variables stands the one that ran."""
    name = os.path.basename(argv[0])
    return (
        next(
            (os.path.basename(word) for word in argv[1:] if "=" not in word and word[:1] != "-"),
            name,
        )
        if name == "env"
        else name
    )


def _is_in_place(tool: Tool) -> bool:
    details = tool.implementation
    if details is None or details.path != "start":
        return False
    from vespe.tools import in_place

    return in_place.standing(tool.directory or "", tool.document) is not None


def _failure(
    program: str, finished: process.Finished, secrets: Mapping[str, str]
) -> ToolExecutionError:
    stderr, stdout = (
        _redacted(text, secrets)
        for text in (_stderr(finished), finished.stdout.decode("utf-8", "replace"))
    )
    how = (
        f"failed with exit status {finished.returncode}"
        if finished.signal is None
        else f"was ended by signal {finished.signal}"
    )
    # A program without a name is Vespe's own start of a function: its last line is the error.
    lines = (stderr.strip() or stdout.strip()).splitlines()[-_SAID_LINES if program else -1 :]
    said = "\n".join(lines)[-_SAID_CHARACTERS:]
    details: JsonObject = {
        "exit_code": finished.returncode,
        "stderr": _bounded(stderr),
        "stdout": _bounded(stdout),
    }
    if finished.signal is not None:
        details["signal"] = finished.signal
    if not program and said and finished.returncode == 1:
        return ToolExecutionError(said, details=details)
    message = f"{program or 'the function'} {how}" + (f": {said}" if said else "")
    return ToolExecutionError(message, details=details)


def _redacted(text: str, secrets: Mapping[str, str]) -> str:
    """Redact before anything is cut: of half a secret nothing would be found."""
    return str(redact(text, tuple(secrets.values())))


def _bounded(text: str) -> str:
    left_out = len(text) - _SHOWN_BYTES
    return (
        f"[… cut by vespe: {left_out} characters left out …]\n{text[left_out:]}"
        if left_out > 0
        else text
    )


def _stderr(finished: process.Finished) -> str:
    """What went to stderr; where its head is gone, from the first whole line, so that no half of a
    secret stands there.
    """
    text = finished.stderr.decode("utf-8", "replace")
    left_out = finished.stderr_bytes - len(finished.stderr)
    if not left_out:
        return text
    broken, newline, rest = text.partition("\n")
    return (
        f"[… cut by vespe: the first {left_out} bytes and a broken line left out …]\n"
        f"{rest if newline else broken}"
    )


def _text(stdout: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        return stdout.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        note = (
            f"the output is not UTF-8 (byte {stdout[error.start]:#04x} at {error.start}): "
            "what could not be read became U+FFFD"
        )
        return stdout.decode("utf-8", "replace"), (note,)


def _lines(text: str) -> list[str]:
    """Split at newlines alone (with a carriage return before them or not); the last one ends a line
    and begins none.
    """
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _json(stdout: bytes, secrets: Mapping[str, str]) -> JsonValue:
    try:
        return strict_json.parse_json(stdout, limit=defaults.LARGER_CAP_BYTES)
    except InvalidDocument as error:
        place = (
            f" (line {error.line}" + (f", column {error.column})" if error.column else ")")
            if error.line
            else ""
        )
        at = f" at {error.pointer}" if error.pointer else ""
        sentence = (
            f"the tool's output {error.reason}{at}{place}"
            if stdout.strip()
            else "the tool printed nothing instead of JSON"
        )
        details = {key: error.details[key] for key in ("line", "column", "pointer", "reason")}
        shown = _bounded(_redacted(stdout.decode("utf-8", "replace"), secrets))
        hint = "stdout must contain one JSON value and nothing else; print messages to stderr"
        raise InvalidOutput(sentence, hint=hint, details=details | {"stdout": shown}) from None
