"""What the names in one Python file stand for, by its syntax tree alone: nothing is imported and
nothing runs.
"""

import ast
import functools
import math
import typing
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from vespe.models import JsonValue
from vespe.records import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef

_SAME_MODULES = {"typing_extensions": "typing", "collections.abc": "typing"}
_TYPING = ("typing", "typing_extensions")
_MAX_INTEGER_BITS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names at the top of a file; the last definition of each counts.

    `imports` maps a local name to the dotted name that it was imported from, `values` each other
    name to the expression that was assigned to it (`type X = …` too). `functions` leaves overloads
    out.
    """

    imports: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, ast.ClassDef] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    values: Mapping[str, ast.expr] = field(default_factory=dict)
    typing_starred: bool = False

    def dotted(self, node: ast.AST) -> str:
        """The full name that a name or attribute stands for: `t.List` is `typing.List` after
        `import typing as t`.

        Spellings of one thing become one (`collections.abc` and `typing_extensions` are `typing`);
        a builtin is its bare name; "" where the node is no name.
        """
        written = spelling(node)
        head, _, rest = written.partition(".")
        full = self.imports.get(head, self._starred(head)) + (f".{rest}" if rest else "")
        module, _, name = full.rpartition(".")
        return f"{_SAME_MODULES.get(module, module)}.{name}" if module else full

    def _starred(self, name: str) -> str:
        own = name in self.classes or name in self.values
        return (
            f"typing.{name}" if self.typing_starred and name in typing.__all__ and not own else name
        )

    def literal(self, node: ast.expr) -> JsonValue:
        """The JSON value of a literal, or of a constant of the file; raises ValueError where there
        is none.
        """
        if isinstance(node, ast.Name) and node.id in self.values:
            node = self.values[node.id]
        try:
            return as_json(ast.literal_eval(node))
        except (TypeError, SyntaxError, MemoryError):
            raise ValueError("is not a literal") from None


@functools.lru_cache(maxsize=1)
def parse_source(source: str) -> ast.Module:
    """The syntax tree of a file's text; warnings on its style (an invalid escape) are not ours to
    show. Raises as `ast.parse` does.

    The last one is kept, since several rules of lint ask for it in turn: it must not be changed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source.removeprefix("\ufeff"))


def read_names(tree: ast.Module) -> Names:
    """Gather the names at the top of a file, in its `if`, `try` and `with` blocks too."""
    found: dict[str, str | ast.AST] = {}
    starred = False
    for node in top_statements(tree.body):
        match node:
            case ast.Import() | ast.ImportFrom():
                found.update(_imported(node))
                starred |= (
                    isinstance(node, ast.ImportFrom)
                    and node.module in _TYPING
                    and node.names[0].name == "*"
                )
            case ast.FunctionDef() | ast.AsyncFunctionDef() if any(
                spelling(d).endswith("overload") for d in node.decorator_list
            ):
                continue
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                found[node.name] = node
            case _:
                found.update(_assigned(node))
    return Names(
        imports={name: meaning for name, meaning in found.items() if isinstance(meaning, str)},
        classes={
            name: meaning for name, meaning in found.items() if isinstance(meaning, ast.ClassDef)
        },
        functions={
            name: meaning for name, meaning in found.items() if isinstance(meaning, Function)
        },
        values={name: meaning for name, meaning in found.items() if isinstance(meaning, ast.expr)},
        typing_starred=starred,
    )


def top_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement of a body, those inside `if`, `try` and `with` blocks too, in the order of
    the text.
    """
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from top_statements(node.body)
            for handler in getattr(node, "handlers", ()):
                yield from top_statements(handler.body)
            yield from top_statements(getattr(node, "orelse", ()))
            yield from top_statements(getattr(node, "finalbody", ()))


def spelling(node: ast.AST) -> str:
    """The dotted name as written, of a name, an attribute, or what is called or subscripted; else
    "".
    """
    parts: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        node = node.func if isinstance(node, ast.Call) else node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def as_json(value: object) -> JsonValue:
    """Return a Python literal as JSON has it (a tuple is an array); raises ValueError for what JSON
    cannot say.
    """
    match value:
        case None | bool():
            return value
        case int() if value.bit_length() <= _MAX_INTEGER_BITS:
            return value
        case float() if math.isfinite(value):
            return value
        case str() if value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value):
            return value
        case list() | tuple():
            return [as_json(item) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {as_json(key): as_json(item) for key, item in value.items()}
    raise ValueError("JSON cannot say it")


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (f"{node.module}." if node.module else "")
            yield alias.asname or alias.name, module + alias.name
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            top = alias.name.partition(".")[0]
            yield top, top


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [getattr(node, "target", None) or getattr(node, "name", None)]
    )
    value = getattr(node, "value", None)
    if isinstance(value, ast.expr) and not isinstance(node, ast.AugAssign):
        yield from ((target.id, value) for target in targets if isinstance(target, ast.Name))


def expression(node: ast.expr) -> ast.expr:
    """Return the expression that a quoted annotation holds, and any other expression as it is."""
    while isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return node
    return node


def setting(call: ast.Call, *keywords: str) -> ast.expr | None:
    """The expression given to a call under the first of these keywords that it has, or None."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    return next((given[keyword] for keyword in keywords if keyword in given), None)


def subscripts(node: ast.Subscript) -> list[ast.expr]:
    """What stands between the brackets, one expression each."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
