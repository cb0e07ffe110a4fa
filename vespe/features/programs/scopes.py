"""What the names of a program mean where they stand, by Python's scopes: a parameter of one
function says nothing about the rest of the program.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from vespe.records import dataclass

_OTHER: Final = ""
"""A binding that is no import of a module."""
_LITERAL: Final = "="
"""What begins a binding to a literal; the kind of its value follows."""
_CONSTANTS: Final = {"str", "bytes", "int", "float", "bool", "NoneType"}
_KINDS: Final[dict[type[ast.AST], str]] = {
    ast.JoinedStr: "str",
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
}


def literal_kind(node: ast.expr) -> str:
    """Return the kind of value that an expression shows by its syntax, or ""."""
    if isinstance(node, ast.Constant):
        kind = type(node.value).__name__
        return kind if kind in _CONSTANTS else ""
    return _KINDS.get(type(node), "")


@dataclass(frozen=True, slots=True, eq=False)
class _Scope:
    """A scope in `outer`, None for that of the program. `bound` has the names that are bound in it,
    each with the modules that are imported as it, the kinds of literals that it is assigned, and
    `_OTHER` for any other binding.
    """

    kind: str
    outer: "_Scope | None"
    bound: dict[str, set[str]]
    is_global: set[str]
    is_outer: set[str]


class Scopes(ast.NodeVisitor):
    """The scopes of a program. Where a name is bound within its scope does not matter."""

    def __init__(self, tree: ast.Module) -> None:
        self._program = self._scope = _made("program", None)
        self._places: dict[int, _Scope] = {}
        """The scope of each name that is read, by `id`."""
        self.visit(tree)

    def is_bound(self, node: ast.Name) -> bool:
        """Whether the program binds a name that it reads: where it does not, a builtin is meant."""
        return bool(self._found(node))

    def module(self, node: ast.Name) -> str:
        """Return the module that a name stands for, "" where it may be anything else."""
        only = self._only(node)
        return _OTHER if only.startswith(_LITERAL) else only

    def may_be_module(self, node: ast.Name) -> bool:
        """Whether a name stands for a module anywhere."""
        return any(one and not one.startswith(_LITERAL) for one in self._found(node))

    def literal(self, node: ast.Name) -> str:
        """Return the kind of the literals that alone are assigned to a name, "" where it may be
        anything else.
        """
        only = self._only(node)
        return only.removeprefix(_LITERAL) if only.startswith(_LITERAL) else ""

    def _only(self, node: ast.Name) -> str:
        found = self._found(node)
        return next(iter(found)) if len(found) == 1 else _OTHER

    def _found(self, node: ast.Name) -> set[str]:
        start = self._places[id(node)]
        scope: _Scope | None = self._program if node.id in start.is_global else start
        while scope is not None:
            # what a class binds is not seen by the functions in it
            if node.id in scope.bound and (scope is start or scope.kind != "class"):
                return scope.bound[node.id]
            scope = scope.outer
        return set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._places[id(node)] = self._scope
        else:
            self._bind(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        kind = literal_kind(node.value)
        for target in node.targets:
            if kind and isinstance(target, ast.Name):
                self._bind(target.id, _LITERAL + kind)
            else:
                self.visit(target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        scope = self._scope
        while scope.kind == "comprehension" and scope.outer is not None:
            scope = scope.outer
        self._bind(node.target.id, scope=scope)
        self.visit(node.value)

    def visit_Global(self, node: ast.Global) -> None:
        self._scope.is_global.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._scope.is_outer.update(node.names)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            self._bind(alias.asname or top, alias.name if alias.asname else top)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self._bind(alias.asname or alias.name)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._bind_and_go_on(node, node.name)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._bind_and_go_on(node, node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._bind_and_go_on(node, node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bind_and_go_on(node, node.rest)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._outside(node.args)
        with self._within("function"):
            self._parameters(node.args)
            self.visit(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name)
        self._all(node.decorator_list)
        with self._within("types"):
            self._types(node)
            self._all((*node.bases, *node.keywords))
            with self._within("class"):
                self._all(node.body)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node.generators, node.elt)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node.generators, node.elt)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node.generators, node.elt)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node.generators, node.key, node.value)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(node.name, _OTHER if node.decorator_list else f"{_LITERAL}function")
        self._all(node.decorator_list)
        with self._within("types"):
            self._types(node)
            self._outside(node.args)
            if node.returns is not None:
                self.visit(node.returns)
            with self._within("function"):
                self._parameters(node.args)
                self._all(node.body)

    def _types(self, node: Any) -> None:
        """Bind the parameters in brackets behind a name, as in `def f[T](x: T)`."""
        for one in getattr(node, "type_params", ()):  # from Python 3.12 on
            self._bind_and_go_on(one, one.name)

    def _outside(self, arguments: ast.arguments) -> None:
        """Visit what is evaluated where a function is defined: defaults and annotations."""
        self._all((*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)))
        self._all(one.annotation for one in _named(arguments) if one.annotation is not None)

    def _parameters(self, arguments: ast.arguments) -> None:
        for one in _named(arguments):
            self._bind(one.arg)

    def _comprehension(self, generators: Sequence[ast.comprehension], *made: ast.expr) -> None:
        self.visit(generators[0].iter)
        with self._within("comprehension"):
            for number, one in enumerate(generators):
                self.visit(one.target)
                self._all((*((one.iter,) if number else ()), *one.ifs))
            self._all(made)

    def _bind_and_go_on(self, node: ast.AST, name: str | None) -> None:
        if name is not None:
            self._bind(name)
        self.generic_visit(node)

    def _bind(self, name: str, what: str = _OTHER, *, scope: _Scope | None = None) -> None:
        scope = scope or self._scope
        if name in scope.is_global:
            scope = self._program
        elif name in scope.is_outer:
            scope = scope.outer or scope
            while scope.kind != "function" and scope.outer is not None:
                scope = scope.outer
        scope.bound.setdefault(name, set()).add(what)

    def _all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    @contextmanager
    def _within(self, kind: str) -> Iterator[None]:
        outer = self._scope
        self._scope = _made(kind, outer)
        yield
        self._scope = outer


def _made(kind: str, outer: _Scope | None) -> _Scope:
    return _Scope(kind, outer, {}, set(), set())


def _named(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (one for one in (arguments.vararg, arguments.kwarg) if one is not None)
