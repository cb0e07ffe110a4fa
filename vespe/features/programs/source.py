"""A program as it was written: what is wrong with it at a glance, which tools it names, and the two
texts that are made of it, one to be checked and one to be run.

Why two: behind `await`, and in the arguments of `asyncio.gather`, a call of a tool is a future, and
elsewhere its value. So a call that is awaited gets another name, which is declared as `async` where
types are checked. In the text that runs, the arguments of a call and the result cross as JSON that
is made where the program runs: what fits into its memory there may be gigabytes here.
"""

import ast
import re
import sys
from collections.abc import Collection, Iterator
from typing import Final, TypeGuard

from vespe.documents.strict_json import repair_surrogates
from vespe.errors import InvalidProgram
from vespe.features.programs.members import Lacking, lacking
from vespe.features.programs.scopes import Scopes
from vespe.lazy import difflib
from vespe.models import JsonObject
from vespe.records import dataclass

MAX_BYTES: Final = 64 * 1024
NOT_RUN: Final = "the program was not run: "
RESERVED: Final = "vespe__"
AWAITED: Final = f"{RESERVED}a_"
CALLED: Final = f"{RESERVED}c_"
VALUE: Final = f"{RESERVED}value"
HANDLE: Final = f"{RESERVED}handle"
"""A function that types are checked with: around what may stand for a result."""
HANDLE_KEY: Final = "$result"
"""The `KEY` of `adapters.large_results.references`, which loads more than a program needs."""
MODULES: Final = frozenset(
    (
        "asyncio",
        "base64",
        "collections",
        "copy",
        "csv",
        "dataclasses",
        "datetime",
        "decimal",
        "functools",
        "hashlib",
        "itertools",
        "json",
        "math",
        "random",
        "re",
        "time",
        "typing",
    )
)
"""What a program can import. `os`, `pathlib` and `sys` are there, too, and of no use: a program has
no files, no environment and no arguments.
"""
_THERE: Final = {
    "collections": frozenset(("Counter", "defaultdict", "deque", "namedtuple")),
    "dataclasses": frozenset(
        ("FrozenInstanceError", "MISSING", "dataclass", "field", "is_dataclass")
    ),
    "datetime": frozenset(("date", "datetime", "time", "timedelta", "timezone")),
    "json": frozenset(("JSONDecodeError", "dump", "dumps", "load", "loads")),
    "re": frozenset(
        (
            *("A", "ASCII", "DOTALL", "I", "IGNORECASE", "M", "MULTILINE", "NOFLAG", "S"),
            *("Match", "Pattern", "PatternError", "compile", "error", "escape", "findall"),
            *("finditer", "fullmatch", "match", "search", "split", "sub"),
        )
    ),
    "typing": frozenset(
        (
            *("Annotated", "Any", "Callable", "ClassVar", "Dict", "Final", "FrozenSet"),
            *("Generator", "Generic", "Iterable", "Iterator", "List", "Literal", "Mapping"),
            *("Never", "NoReturn", "Optional", "Protocol", "Self", "Sequence", "Set"),
            *("TYPE_CHECKING", "Tuple", "Type", "TypeVar", "Union"),
        )
    ),
}
"""What is in those modules of which the declarations have more than there is."""
_INSTEAD: Final = {
    "asyncio": "`await asyncio.gather(f(1), f(2))` makes calls together",
    "collections.OrderedDict": "use a dict, which keeps its order",
    "dataclasses.asdict": "write the dict itself",
    "dataclasses.replace": "make a new one",
    "datetime.UTC": "use `timezone.utc`",
    "functools.cmp_to_key": "sort by a key",
    "json.JSONEncoder": "make values that JSON has before `json.dumps`",
    "re.VERBOSE": "write the pattern in one line",
    "re.X": "write the pattern in one line",
    "re.subn": "use `re.sub`",
    "typing": "leave that annotation out",
    "typing.cast": "use the value itself",
}
"""What to use for a name that a module has not, or for any of a module."""
_PRELUDE: Final = f"""\
from json import dumps as {RESERVED}dumps
def {RESERVED}pack(*given, **named): return {RESERVED}dumps([given, named])
"""
_SHIM: Final = "def {name}(*given, **named): return {called}{name}({pack}(*given, **named))\n"
PLAIN: Final = f"""\
def {RESERVED}plain(value):
    if isinstance(value, dict):
        return {{str(key): {RESERVED}plain(one) for key, one in value.items()}}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [{RESERVED}plain(one) for one in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
{RESERVED}dumps({RESERVED}plain({VALUE}))
"""
"""What says a result in JSON that has values which JSON has not."""
_UNSUPPORTED: Final[dict[type[ast.AST], str]] = {
    ast.Delete: "`del` is not supported: use `d.pop(key)`, `items.pop(index)`, or a new name",
    ast.Yield: "`yield` is not supported: return a list",
    ast.YieldFrom: "`yield` is not supported: return a list",
    ast.AsyncFor: "`async for` is not supported: use `for`",
    ast.AsyncWith: "`async with` is not supported",
    ast.TryStar: "`except*` is not supported: use `except`",
    ast.MatMult: "`@` is not supported: multiply in loops",
}
BUILTINS: Final = {
    "eval": "write the expression itself",
    "exec": "write the statements themselves",
    "compile": "write the statements themselves",
    "globals": "name the variable",
    "locals": "name the variable",
    "vars": "name the variable",
    "input": "there is no one to ask: use the results of tools",
    "breakpoint": "use print()",
    "open": "a program has no files: call a tool that reads or writes them",
    "exit": "let the last expression be the result, and raise an error where it fails",
    "quit": "let the last expression be the result, and raise an error where it fails",
    "EnvironmentError": "use OSError",
    "IOError": "use OSError",
    "help": "`describe_tool` tells what a tool takes",
    "__import__": "use `import`",
    "__builtins__": "name the builtin itself",
}
"""Builtins that are not there, each with what to do instead."""
_GATHER: Final = "gather"
_NO_IMPORT: Final = frozenset(("ImportError", "Exception", "BaseException"))
_NO_ATTRIBUTE: Final = frozenset(("AttributeError", "Exception", "BaseException"))
"""What catches the errors of a name that a module has not."""
_ANY: Final = _NO_IMPORT | _NO_ATTRIBUTE
_CALLING: Final = {"map", "filter", "sorted", "min", "max", "sort", "reduce"}
"""What calls a function that it is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that can be parsed. `used` are the functions of tools that it names, `problems`
    what is wrong with it already; `checked` and `run` are its two texts, and `first_line` is the
    line of `run` before its own first one. `spared` are the lines, modules and names of what a
    module need not have, since the program provides for it; `lacking` are the names that its values
    have not.
    """

    text: str
    used: tuple[str, ...]
    problems: tuple[JsonObject, ...]
    spared: frozenset[tuple[int, str, str]]
    lacking: tuple[Lacking, ...]
    checked: str
    run: str
    first_line: int


def read_program(code: str, functions: Collection[str]) -> Program:
    """Read a program over these functions. Raises InvalidProgram where it is too long, or no
    Python.
    """
    text = repair_surrogates(code).replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    size = len(text.encode("utf-8"))
    if size > MAX_BYTES:
        raise too_large(f"{size:,}")
    tree = _parsed(text)
    reading = _Reading(functions, gathered=_gathered_names(tree))
    reading.visit(tree)
    reading.problems.sort(key=lambda problem: int(problem["line"]))
    return _made(text, tree, reading)


def too_large(size: str) -> InvalidProgram:
    """Return the error of a program that is too long."""
    return InvalidProgram(
        f"the program has {size} bytes, but at most {MAX_BYTES:,} are allowed",
        hint="split it, or let a tool read the data in it",
    )


def problem(line: int, message: str) -> JsonObject:
    """Return what is wrong in one line."""
    return {"line": line, "message": message}


def refused(problems: Collection[JsonObject]) -> InvalidProgram:
    """Return the error that says all that is wrong with a program."""
    said = "; ".join(
        f"line {one['line']}: {one['message']}" if one["line"] else str(one["message"])
        for one in problems
    )
    return InvalidProgram(NOT_RUN + said, problems=problems)


def no_builtin(name: str) -> str:
    """Say that there is no such builtin, one of BUILTINS, and what to do instead."""
    return f"`{name}` does not exist in programs: {BUILTINS[name]}"


def absent(module: str, name: str) -> str:
    """Say that a module has no such name in a program, and what to use instead."""
    hint = _INSTEAD.get(f"{module}.{name}") or _INSTEAD.get(module, "")
    near = difflib.get_close_matches(name, _THERE.get(module, ()), n=1)
    if not hint and near:
        hint = f"did you mean {near[0]}?"
    return f"there is no {name!r} in the module {module!r} of a program" + f": {hint}" * bool(hint)


def _parsed(text: str) -> ast.Module:
    try:
        tree = compile(
            text,
            "program",
            "exec",
            ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
            dont_inherit=True,
        )
    except SyntaxError as error:
        raise refused([problem(error.lineno or 0, _syntax(error))]) from None
    except (ValueError, MemoryError, RecursionError) as error:
        said = "it is nested too deeply" if not isinstance(error, ValueError) else str(error)
        raise refused([problem(0, said)]) from None
    assert isinstance(tree, ast.Module)
    return tree


def _syntax(error: SyntaxError) -> str:
    shown = (error.text or "").strip()
    where = f" in `{shown[:80]}`" if shown else ""
    hint = (
        ": use the other kind of quotes inside the braces of an f-string"
        if "f-string" in str(error.msg)
        else ""
    )
    return f"{error.msg}{where}{hint}"


class _Reading(ast.NodeVisitor):
    """Finds the calls of functions in a tree, which of them are awaited, and what is wrong."""

    _scopes: Scopes

    def __init__(self, functions: Collection[str], *, gathered: Collection[str]) -> None:
        self._functions, self._within = functions, 0
        self.problems: list[JsonObject] = []
        self.calls: list[ast.Call] = []
        self.handles: list[ast.Dict] = []
        self.awaited: set[int] = set()
        """Of calls, by `id`."""
        self.loose: set[str] = set()
        """Functions that are used in another way than by a call whose place is known."""
        self.used: dict[str, None] = {}
        self.spared: set[tuple[int, str, str]] = set()
        self.lacking: tuple[Lacking, ...] = ()
        self._called: set[int] = set()
        self._gathered = gathered
        self._caught: frozenset[str] = frozenset()
        """The errors that the statement around is prepared for."""

    def visit(self, node: ast.AST) -> None:
        """Look at a node and what is in it; a tree that is nested too deeply is a problem."""
        try:
            if isinstance(node, ast.Module):
                self._scopes = Scopes(node)
                self.lacking = lacking(node, self._scopes, self._functions)
            super().visit(node)
        except RecursionError:
            if not isinstance(node, ast.Module):
                raise
            self.problems.append(problem(0, "it is nested too deeply"))

    def generic_visit(self, node: ast.AST) -> None:
        if (said := _UNSUPPORTED.get(type(node))) is not None:
            self._say(node, said)
        super().generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._judge_name(node, node.id)
        if isinstance(node.ctx, ast.Load):
            if (
                node.id in BUILTINS
                and node.id not in self._functions
                and not self._scopes.is_bound(node)
            ):
                self._say(node, no_builtin(node.id))
            if node.id in self._functions:
                self.used[node.id] = None
                if id(node) not in self._called:
                    self.loose.add(node.id)
        else:
            self._judge_bound(node, node.id)

    def visit_Await(self, node: ast.Await) -> None:
        self._mark(node.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if _is_gather(node):
            for argument in node.args:
                self._mark(argument)
        if name in self._functions and (sys.version_info >= (3, 12) or not self._within):
            self._called.add(id(node.func))
            self.calls.append(node)
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            self.handles += [one for one in given if _is_handle(one)]
        elif id(node) in self.awaited:
            self._say(node, f"await {name}() before the f-string, and name its result there")
        if name in _CALLING or getattr(node.func, "attr", "") in _CALLING:
            self._judge_called_back(node, name or node.func.attr)  # type: ignore[attr-defined]  # it has one
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        # Before Python 3.12 what is inside has no true places.
        self._within += 1
        self.generic_visit(node)
        self._within -= 1

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(one, ast.Name) and one.id in self._gathered for one in node.targets):
            self._mark(node.value)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        # items.append(call(…)), where `gather(*items)` follows
        made = node.value
        if (
            isinstance(made, ast.Call)
            and isinstance(made.func, ast.Attribute)
            and made.func.attr == "append"
            and isinstance(made.func.value, ast.Name)
            and made.func.value.id in self._gathered
        ):
            for argument in made.args:
                self._mark(argument)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._judge_module(node, alias.name)
            self._judge_bound(node, alias.asname or alias.name.partition(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module == "__future__":
            self._say(node, "`from __future__` is not needed: remove it")
            return
        self._judge_module(node, "." * node.level + (node.module or ""))
        for alias in node.names:
            if alias.name == "*":
                self._say(node, "`import *` is not supported: name what you need")
            else:
                self._judge_member(alias, node.module or "", alias.name, _NO_IMPORT)
                self._judge_bound(node, alias.asname or alias.name)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name):
            module = self._scopes.module(node.value) if isinstance(node.value.ctx, ast.Load) else ""
            self._judge_member(node, module, node.attr, _NO_ATTRIBUTE)
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        self._visit_under(node.body, self._caught | _caught_by(node.handlers))
        for one in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(one)

    def visit_If(self, node: ast.If) -> None:
        test = node.test
        is_for_types = "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))
        self.visit(test)
        self._visit_under(node.body, _ANY if is_for_types else self._caught)
        for one in node.orelse:
            self.visit(one)

    def _visit_under(self, body: Collection[ast.stmt], caught: frozenset[str]) -> None:
        before, self._caught = self._caught, caught
        for one in body:
            self.visit(one)
        self._caught = before

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if node.bases or node.keywords:
            self._say(
                node,
                "a class cannot inherit: write it without bases, "
                "and raise ValueError or RuntimeError for errors of your own",
            )
        for one in node.body:
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.decorator_list:
                self._say(one, "decorators of methods are not supported: write a plain function")
        self._bind(node, node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before, self._caught = self._caught, frozenset()  # it runs where it is called
        self._bind(node, node.name)
        self._caught = before

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._bind(node, node.name)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._bind(node, node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._bind(node, node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bind(node, node.rest)

    def visit_arg(self, node: ast.arg) -> None:
        self._bind(node, node.arg)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        if node.is_async:
            self._say(node.target, "`async for` is not supported: use `for`")
        self.generic_visit(node)

    def _bind(self, node: ast.AST, name: str | None) -> None:
        if name is not None:
            self._judge_bound(node, name)
        self.generic_visit(node)

    def _mark(self, node: ast.AST) -> None:
        """Note the calls that a value which is awaited consists of."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in self._functions:
                self.awaited.add(id(node))
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            for one in node.elts:
                self._mark(one)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            self._mark(node.elt)
        elif isinstance(node, ast.Starred):
            self._mark(node.value)
        elif isinstance(node, ast.IfExp):
            self._mark(node.body)
            self._mark(node.orelse)

    def _judge_called_back(self, node: ast.Call, name: str) -> None:
        """Say so where a builtin would call a tool, which it cannot."""
        for given in (*node.args, *(keyword.value for keyword in node.keywords)):
            inside = ast.walk(given.body) if isinstance(given, ast.Lambda) else (given,)
            tools = [
                one.id for one in inside if isinstance(one, ast.Name) and one.id in self._functions
            ]
            if tools:
                self._say(
                    given,
                    f"{name}() cannot call a tool ({tools[0]}): use a loop or a comprehension",
                )

    def _judge_module(self, node: ast.AST, name: str) -> None:
        if name not in MODULES:
            close = difflib.get_close_matches(name, MODULES, n=1)
            there = (
                f"did you mean {close[0]}?" if close else f"there is {', '.join(sorted(MODULES))}"
            )
            self._say(node, f"there is no module {name!r} in a program: {there}")

    def _judge_member(
        self, node: ast.Attribute | ast.alias, module: str, name: str, raised: Collection[str]
    ) -> None:
        """Say so where a module has no such name, and the program does not catch what is `raised`
        there.
        """
        if not self._caught.isdisjoint(raised):
            self.spared.add((node.lineno, module, name))
        elif module in _THERE and name not in _THERE[module]:
            self._say(node, absent(module, name))

    def _judge_name(self, node: ast.AST, name: str) -> None:
        if name.startswith(RESERVED):
            self._say(node, f"names do not begin with `{RESERVED}`: use another one for {name!r}")

    def _judge_bound(self, node: ast.AST, name: str) -> None:
        self._judge_name(node, name)
        if name in self._functions:
            self._say(node, f"{name!r} is the name of a tool: choose another name")

    def _say(self, node: ast.AST, message: str) -> None:
        found = problem(getattr(node, "lineno", 0), message)
        if found not in self.problems:
            self.problems.append(found)


def _is_gather(node: ast.Call) -> bool:
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name == _GATHER


def _is_handle(node: ast.expr) -> TypeGuard[ast.Dict]:
    """Whether an argument has the form of a handle of a large result."""
    return isinstance(node, ast.Dict) and any(
        isinstance(key, ast.Constant) and key.value == HANDLE_KEY for key in node.keys
    )


def _gathered_names(tree: ast.Module) -> frozenset[str]:
    """Return the names of lists that a program gathers: `gather(*tasks)`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_gather(node):
            for argument in node.args:
                value = argument.value if isinstance(argument, ast.Starred) else argument
                if isinstance(value, ast.Name):
                    found.add(value.id)
        elif isinstance(node, ast.Await) and isinstance(node.value, ast.Name):
            found.add(node.value.id)  # task = call(…); await task
    return frozenset(found)


def _caught_by(handlers: Collection[ast.ExceptHandler]) -> frozenset[str]:
    """Return the names of the errors that these handlers catch."""
    found: set[str] = set()
    for handler in handlers:
        kind = handler.type
        if kind is None:
            return _ANY
        kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
        found.update(one.id for one in kinds if isinstance(one, ast.Name))
    return frozenset(found)


def _made(text: str, tree: ast.Module, reading: _Reading) -> Program:
    data = text.encode("utf-8")
    places = _Places(data)
    checked, run = _Edits(data), _Edits(data)
    problems = list(reading.problems)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):  # before what else begins there
        run.put(places.start(last), f"{VALUE} = (")
        run.put(places.end(last), ")")
    for call in reading.calls:
        assert isinstance(call.func, ast.Name)
        name, is_awaited = call.func.id, id(call) in reading.awaited
        start, end = places.start(call.func), places.end(call.func)
        opened = _OPENED.match(data, end)
        if data[start:end] != name.encode() or opened is None:
            problems.append(problem(call.lineno, f"call {name!r} directly: `{name}(…)`"))
            continue
        if is_awaited:
            checked.put(start, AWAITED)
        run.put(start, AWAITED if is_awaited else CALLED)
        run.put(opened.end(), f"{RESERVED}pack(")
        run.put(places.end(call) - 1, ")")
    for handle in reading.handles:
        checked.put(places.start(handle), f"{HANDLE}(")
        checked.put(places.end(handle), ")")
    prelude = _PRELUDE + "".join(
        _SHIM.format(name=name, called=CALLED, pack=f"{RESERVED}pack")
        for name in sorted(reading.loose)
    )
    none = "" if isinstance(last, ast.Expr) else f"\n{VALUE} = None"
    return Program(
        text=text,
        used=tuple(reading.used),
        problems=tuple(problems),
        spared=frozenset(reading.spared),
        lacking=reading.lacking,
        checked=checked.made(),
        run=f"{prelude}{run.made()}{none}\n{RESERVED}dumps({VALUE})",
        first_line=prelude.count("\n"),
    )


_OPENED: Final = re.compile(rb"(?:[ \t\f]|\\\n)*\(")


class _Places:
    """Where nodes stand in a text, as offsets of bytes."""

    def __init__(self, data: bytes) -> None:
        self._lines = [0]
        for line in data.split(b"\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return where a node begins; brackets around an expression are not its own."""
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return where a node ends."""
        return self._lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)


class _Edits:
    """Texts to be put into a text."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._edits: list[tuple[int, str]] = []

    def put(self, at: int, text: str) -> None:
        """Put a text in at a place; of several in one place the first stays first."""
        self._edits.append((at, text))

    def made(self) -> str:
        """Return the text with all that was put into it."""
        return b"".join(self._pieces()).decode("utf-8")

    def _pieces(self) -> Iterator[bytes]:
        at = 0
        for place, text in sorted(self._edits, key=lambda edit: edit[0]):
            yield self._data[at:place]
            yield text.encode("utf-8")
            at = place
        yield self._data[at:]
