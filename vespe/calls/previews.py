"""What a call would do, as far as Vespe itself can say it: the command that would run, the request
that would be sent, the difference to a file as it is now.
"""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from vespe.errors import VespeError
from vespe.files import confined
from vespe.lazy import difflib, shlex
from vespe.models import Call, JsonObject, Tool
from vespe.records import dataclass
from vespe.tools import bm25

if TYPE_CHECKING:
    from vespe.calls.path import CallPath

COMMAND, REQUEST, DIFFERENCE = "command", "request", "difference"
_MAX_FILE: Final = 256 * 1024
_PATHS: Final = frozenset(bm25.words("path file filename filepath"))
_CONTENTS: Final = frozenset(bm25.words("content contents text body data"))
_PAIRS: Final = (("old", "new"), ("before", "after"), ("search", "replace"), ("find", "replace"))
_CONTEXT: Final = 3
_MAX_LINES: Final = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """One look at what a call would do: its `kind`, a `title` and its `text`; `instead_of` are the
    arguments that it shows.
    """

    kind: str
    title: str
    text: str
    instead_of: tuple[str, ...] = ()


def previewing(path: "CallPath") -> Callable[[Tool, JsonObject], tuple[Preview, ...]]:
    """Return what says of a call in the project of `path` what it would do. It runs nothing and
    never raises: what cannot be said is left out.
    """

    def previews(tool: Tool, inputs: JsonObject) -> tuple[Preview, ...]:
        found = list(_planned(path, tool, inputs))
        if tool.annotations.get("readOnlyHint") is not True:
            found += _differences(path, inputs)
        return tuple(found)

    return previews


def _planned(path: "CallPath", tool: Tool, inputs: JsonObject) -> Iterator[Preview]:
    try:
        plan = path.plan(tool, Call(tool=tool.name, arguments=inputs))
    except VespeError:
        return
    argv, url = plan.get("argv"), plan.get("url")
    if isinstance(argv, list) and all(isinstance(word, str) for word in argv):
        text = _within(path.workspace.root, shlex.join(argv))
        if stdin := plan.get("stdin"):
            text += f"\n\nwith this on its input:\n{stdin}"
        yield Preview(kind=COMMAND, title="Command", text=text)
    elif "method" in plan and isinstance(url, str):
        lines = [f"{plan['method']} {url}"]
        headers = plan.get("headers")
        if isinstance(headers, dict):
            lines += [f"{name}: {value}" for name, value in headers.items()]
        if body := plan.get("body"):
            lines += ["", str(body)]
        yield Preview(kind=REQUEST, title="Request", text="\n".join(lines))


def _within(root: str, command: str) -> str:
    return command.removeprefix(root + os.sep) if command.startswith(root + os.sep) else command


def _differences(path: "CallPath", inputs: JsonObject) -> Iterator[Preview]:
    """Yield what a call would change in a file, where the names of its arguments say that it has a
    file's path and its new text, or an old text and the new one.
    """
    place = _only(inputs, _PATHS)
    if (pair := _pair(inputs)) is not None:
        old, new = pair
        title = f"Change in {inputs[place]}" if place else "Change"
        text, shown = _edit(path, inputs, place, str(inputs[old]), str(inputs[new]))
        yield Preview(kind=DIFFERENCE, title=title, text=text, instead_of=pair if shown else ())
        return
    content = _only(inputs, _CONTENTS)
    if place is None or content is None:
        return
    name, new_text = str(inputs[place]), str(inputs[content])
    now = _read(path, name)
    if now is None:
        return
    if now == new_text:
        text, shown = f"{name} has exactly this content already", True
    else:
        text, shown = _difference(now, new_text)
    title = f"the change to {name}" if now else f"{name} is new"
    yield Preview(kind=DIFFERENCE, title=title, text=text, instead_of=(content,) if shown else ())


def _edit(
    path: "CallPath", inputs: JsonObject, place: str | None, old: str, new: str
) -> tuple[str, bool]:
    """Return how a file changes where one text replaces another, and whether that shows all of
    both. Without line numbers where it is not known which place of the file is meant.
    """
    now = _read(path, str(inputs[place])) if place is not None else None
    found = now.count(old) if now and old else 0
    if now and (found == 1 or (found and _replaces_all(inputs))):
        text, shown = _difference(now, now.replace(old, new))
        if shown:
            return text, shown
    text, shown = _difference(old, new)
    return (_without_numbers(text), shown) if shown else (text, shown)


def _replaces_all(inputs: JsonObject) -> bool:
    return any(value is True and "all" in bm25.words(name) for name, value in inputs.items())


def _without_numbers(difference: str) -> str:
    """Return a difference without the lines that say where its parts are."""
    lines = ["…" if line.startswith("@@") else line for line in difference.split("\n")]
    return "\n".join(lines[1:] if lines[0] == "…" else lines)


def _read(path: "CallPath", name: str) -> str | None:
    """Return the text of a file of the project, "" where there is none yet, None where it is not
    shown: outside the project, hidden, through a link, large, or no text.
    """
    root = path.directory or path.workspace.root
    if os.path.isabs(name):
        name = os.path.relpath(name, root)
    name = os.path.normpath(name).replace(os.sep, "/")
    if any(part.startswith(".") for part in name.split("/")):
        return None
    try:
        with confined.Directory(root, rules=path.user.files) as directory:
            if directory.kind(name) is None:
                return ""
            return directory.read_text(name, limit=_MAX_FILE)
    except VespeError:
        return None


def _only(inputs: JsonObject, words: frozenset[str]) -> str | None:
    """Return the one argument whose name ends with one of the words and that is a string."""
    found = [
        name
        for name, value in inputs.items()
        if isinstance(value, str) and words.intersection(bm25.words(name)[-1:])
    ]
    return found[0] if len(found) == 1 else None


def _pair(inputs: JsonObject) -> tuple[str, str] | None:
    texts = [name for name, value in inputs.items() if isinstance(value, str)]
    for old, new in _PAIRS:
        first = [name for name in texts if bm25.words(name)[:1] == bm25.words(old)]
        second = [name for name in texts if bm25.words(name)[:1] == bm25.words(new)]
        if len(first) == len(second) == 1 and first != second:
            return first[0], second[0]
    return None


def _difference(old: str, new: str) -> tuple[str, bool]:
    """Return how two texts differ, and whether that shows all of both; what is too large to
    compare is only counted.
    """
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > _MAX_LINES or max(len(old), len(new)) > _MAX_FILE:
        counts = [f"{len(one):,} line{'s' * (len(one) != 1)}" for one in (before, after)]
        return f"too large to compare here: {counts[0]} before, {counts[1]} after", False
    lines = list(difflib.unified_diff(before, after, n=_CONTEXT, lineterm=""))[2:]
    return "\n".join(lines) or "only the line endings differ", True
