"""What the values of a program have: which names can be read of them, and which can only be called.
The interpreter has fewer than Python, and says so only when a program comes to them, after the
effects of the calls before. So a name that no value has is found before anything runs.

A program that provides for what is missing is left alone: it catches the error, asks with `hasattr`
or `isinstance`, or gives values names of its own.
"""

import ast
import builtins
from collections.abc import Collection, Iterator
from typing import Final

from vespe.features.programs.scopes import Scopes, literal_kind
from vespe.lazy import difflib
from vespe.records import dataclass

_READ: Final = """\
Emax Emin MAX_DIGEST_SIZE MAX_KEY_SIZE PERSON_SIZE SALT_SIZE VERSION __annotations__ __args__
__class__ __dataclass_fields__ __dataclass_params__ __doc__ __eq__ __hash__ __init__
__match_args__ __module__ __name__ __origin__ __parameters__ __qualname__ __repr__ __wrapped__
_field_defaults _field_type _fields args block_size capitals clamp compare currsize day days
default default_factory delimiter dialect digest_size digits doc doublequote escapechar exponent
extrasaction fieldnames flags fold from_iterable func hash hits hour imag init keywords kw_only
line_num lineterminator max maxlen maxsize metadata microsecond microseconds min minute misses
month name pattern prec quotechar quoting reader real repr resolution restkey restval rounding
second seconds sign skipinitialspace start step stop strict string tm_gmtoff tm_hour tm_isdst
tm_mday tm_min tm_mon tm_sec tm_wday tm_yday tm_year tm_zone traps type tzinfo utc writer year
"""
_CALLED: Final = """\
Etiny Etop __ceil__ __class_getitem__ __complex__ __copy__ __deepcopy__ __exit__ __float__
__floor__ __format__ __getnewargs__ __int__ __missing__ __reduce__ __round__ __trunc__ _apply
_asdict _make _replace abs adjusted appendleft as_integer_ratio as_tuple astimezone betavariate
binomialvariate cache_clear cache_info cache_parameters canonical choice choices clear_flags
clear_traps combine compare_signal compare_total compare_total_mag conjugate copy_abs
copy_decimal copy_negate copy_sign create_decimal create_decimal_from_float date digest divide
divide_int divmod dst elements end exp expovariate extendleft findall finditer fma from_float
from_number fromisoformat fullmatch gammavariate gauss getrandbits getstate group groupdict
groups hexdigest is_canonical is_finite is_infinite is_nan is_normal is_qnan is_signed is_snan
is_subnormal is_zero isoformat isoweekday ln log10 logb logical_and logical_invert logical_or
logical_xor lognormvariate match max_mag min_mag minus most_common multiply next_minus next_plus
next_toward normalize normalvariate now number_class paretovariate plus popleft power quantize
radix randbytes randint random randrange remainder remainder_near rotate same_quantum sample
scaleb search seed setstate shift shuffle span sqrt strftime strptime sub subtract time
timestamp timetz to_eng_string to_integral to_integral_exact to_integral_value to_sci_string
today total total_seconds triangular tzname uniform utcoffset vonmisesvariate weekday
weibullvariate writeheader writerow writerows
"""
_TEXT: Final = """\
capitalize center count endswith find index isalnum isalpha isascii isdigit islower isspace
istitle isupper join ljust lower lstrip partition removeprefix removesuffix replace rfind rindex
rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title upper zfill
"""
_STR: Final = "casefold encode expandtabs format isdecimal isidentifier isnumeric isprintable"
_FROZEN: Final = "copy difference intersection isdisjoint issubset issuperset symmetric_difference"
_DICT: Final = "clear copy fromkeys get items keys pop popitem setdefault update values"
_LIST: Final = "append clear copy count extend index insert pop remove reverse sort"
KINDS: Final = {
    kind: frozenset(names.split())
    for kind, names in {
        "str": f"{_TEXT} {_STR}",
        "bytes": f"{_TEXT} decode fromhex hex",
        "int": "",
        "float": "",
        "bool": "",
        "NoneType": "",
        "list": _LIST,
        "dict": _DICT,
        "set": f"{_FROZEN} union add clear discard pop remove update",
        "frozenset": f"{_FROZEN} union",
        "tuple": "count index",
        "range": "",
        "function": "",
    }.items()
}
"""The methods of the kinds of values that a program can show by its syntax. These have nothing that
can be read.
"""
CLASSES: Final = {
    kind: frozenset(("fromkeys",) if kind == "dict" else ("fromhex",) if kind == "bytes" else ())
    for kind in KINDS
    if kind not in ("NoneType", "function")
}
"""The methods of their classes: `str.upper(x)` is no call that the interpreter has."""
VALUES: Final = frozenset(_READ.split())
"""What can be read of some value."""
METHODS: Final = frozenset(_CALLED.split()).union(*KINDS.values())
"""What can be called on some value, and not be read of any."""
INSTEAD: Final = {
    "__class__": "use `type(x)`",
    "__len__": "use `len(x)`",
    "bit_count": 'use `bin(n).count("1")`',
    "bit_length": "use `len(bin(n)) - 2`",
    "contains": "use `in`",
    "ctime": "use `strftime`",
    "difference_update": "use `a -= b`",
    "format_map": "use `format(**d)`",
    "fromordinal": "use `date(1, 1, 1) + timedelta(days=n - 1)`",
    "fromtimestamp": "use `datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=s)`",
    "has_key": "use `in`",
    "intersection_update": "use `a &= b`",
    "is_integer": "use `x == int(x)`",
    "isocalendar": 'use `strftime("%G-%V-%u")`',
    "length": "use `len(x)`",
    "maketrans": "use `replace`",
    "push": "use `append`",
    "subn": "use `sub`",
    "symmetric_difference_update": "use `a ^= b`",
    "timetuple": "read `year`, `month`, `day`, `hour`, `minute` and `second`",
    "toordinal": "use `(d - date(1, 1, 1)).days + 1`",
    "translate": "use `replace`",
    "utcfromtimestamp": "use `datetime(1970, 1, 1) + timedelta(seconds=s)`",
    "utcnow": "use `datetime.now(timezone.utc)`",
}
"""What to use for a name that no value has."""
_CATCHING: Final = frozenset(("AttributeError", "Exception", "BaseException"))
"""What catches the error of a name that a value has not."""
_ASKING: Final = {"callable", "getattr", "hasattr", "isinstance", "issubclass", "type"}
_NAMED: Final = {"getattr", "hasattr"}
"""What asks about names in strings."""
_NAMING: Final = {"__setattr__", "namedtuple", "setattr"}
"""What gives values names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """A name that a value lacks in a program. `hint` is what to use instead, or ""."""

    line: int
    name: str
    message: str
    hint: str

    @property
    def said(self) -> str:
        """The whole sentence."""
        return f"{self.message}: {self.hint}" if self.hint else self.message


def lacking(
    tree: ast.Module, scopes: Scopes, functions: Collection[str] = ()
) -> tuple[Lacking, ...]:
    """Return the names in a program that its values have not, as far as that is certain.
    `functions` are tools, which have no more than other functions.
    """
    own = _Own(tree, scopes)
    if own.is_open:
        return ()
    judging = _Judging(scopes, own, functions)
    judging.visit(tree)
    return tuple(judging.found)


class _Own:
    """What a program says of names that its values may have. `names` are those that it gives them
    itself, `asked` are the variables about whose kind it asks, `errors` those that hold errors that
    it caught. `is_open` where it may give any name, or may suppress errors by a context manager,
    and `catches` where it catches such errors somewhere.
    """

    def __init__(self, tree: ast.Module, scopes: Scopes) -> None:
        self._scopes = scopes
        self.names: set[str] = set()
        self.asked: set[str] = set()
        self.errors: set[str] = set()
        self.is_open = self.catches = False
        self._strings: set[str] = set()
        self._names_by_strings = False
        self._placed: set[int] = set()
        """Names, by `id`, of which something is read, or which are called."""
        for node in ast.walk(tree):
            self._look(node)
        for node in ast.walk(tree):
            self._look_at_loose(node)
        if self._names_by_strings:
            self.names |= self._strings
        self.is_open = self.is_open or "__exit__" in self.names

    def _look(self, node: ast.AST) -> None:
        if isinstance(node, ast.ClassDef):
            self.names.update(_bound_in(node))
        elif isinstance(node, ast.Attribute):
            self._placed.add(id(node.value))
            if not isinstance(node.ctx, ast.Load):
                self.names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._strings.update(node.value.replace(",", " ").split())
        elif isinstance(node, ast.ExceptHandler):
            self.catches = self.catches or _may_catch(node)
            self.errors.add(node.name or "")
        elif isinstance(node, ast.Call):
            self._placed.add(id(node.func))
            self._look_at_call(node)
        elif isinstance(node, ast.Match):
            self.asked.add(_root(node.subject))
            self.asked.update(_captured(node))
        elif isinstance(node, ast.alias):
            self.is_open = self.is_open or (node.name in _NAMING and node.asname is not None)

    def _look_at_call(self, node: ast.Call) -> None:
        name = _last(node.func)
        if name in _ASKING and node.args:
            self.asked.add(_root(node.args[0]))
            self._names_by_strings = self._names_by_strings or name in _NAMED
        if name in _NAMING or (name == "type" and len(node.args) > 1):
            self._names_by_strings = True
            given = node.args[2 if name == "type" else 1 :][:1]
            named = [one for one in node.keywords if one.arg != "defaults"]
            self.is_open = self.is_open or not given or bool(named) or not _is_plain(given[0])

    def _look_at_loose(self, node: ast.AST) -> None:
        """A module, or what gives names, that goes elsewhere may come back as any value."""
        if isinstance(node, ast.Attribute):
            loose = node.attr == "namedtuple" and id(node) not in self._placed
            self.is_open = self.is_open or loose or node.attr == "__setattr__"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            goes = node.id in _NAMING or self._scopes.may_be_module(node)
            self.is_open = self.is_open or (goes and id(node) not in self._placed)


def _bound_in(node: ast.ClassDef) -> Iterator[str]:
    """Return the names that a class gives to its values."""
    for one in ast.walk(node):
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield one.name
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id
        elif isinstance(one, ast.alias):
            yield one.asname or one.name.partition(".")[0]


def _may_catch(handler: ast.ExceptHandler) -> bool:
    """Whether a handler may catch an AttributeError: a name that is no builtin may be anything."""
    kind = handler.type
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(
        not isinstance(one, ast.Name) or one.id in _CATCHING or not hasattr(builtins, one.id)
        for one in kinds
        if not isinstance(one, ast.Attribute)
    )


def _captured(node: ast.Match) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, (ast.MatchAs, ast.MatchStar)) and one.name is not None:
            yield one.name
        elif isinstance(one, ast.MatchMapping) and one.rest is not None:
            yield one.rest


def _is_plain(node: ast.expr) -> bool:
    """Whether names stand in the program itself, as one string or several."""
    if isinstance(node, ast.Dict):
        return all(one is not None and _is_plain(one) for one in node.keys)
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(map(_is_plain, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _last(node: ast.expr) -> str:
    """Return the last name of what is called."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _read_in(node: ast.AST) -> frozenset[str]:
    """Return the names that are read in a statement."""
    names = (one for one in ast.walk(node) if isinstance(one, ast.Name))
    return frozenset(one.id for one in names if isinstance(one.ctx, ast.Load))


def _root(node: ast.expr) -> str:
    """Return the variable from which an expression comes, or ""."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Await)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


class _Judging(ast.NodeVisitor):
    """Finds the names that values have not, where a program does not provide for that."""

    def __init__(self, scopes: Scopes, own: _Own, functions: Collection[str]) -> None:
        self._scopes, self._own, self._functions = scopes, own, functions
        self.found: list[Lacking] = []
        self._called: set[int] = set()
        """What is called, by `id`."""
        self._is_caught = False
        self._tried: frozenset[str] = frozenset()
        """Variables that were tried in another way before an error was caught."""

    def visit_Call(self, node: ast.Call) -> None:
        self._called.add(id(node.func))
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load) and not self._is_caught:
            self._judge(node)
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        before = self._is_caught
        self._is_caught = before or any(map(_may_catch, node.handlers))
        self._visit_all(node.body)
        self._is_caught = before
        tried, self._tried = self._tried, self._tried.union(*map(_read_in, node.body))
        self._visit_all(node.handlers)
        self._tried = tried
        self._visit_all((*node.orelse, *node.finalbody))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node, node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node, (node.body,))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_all((node.target, *((node.value,) if node.value else ())))

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, body: Collection[ast.AST]
    ) -> None:
        """Look at a function. Errors in it may be caught wherever it is called; annotations are
        not evaluated.
        """
        self._visit_all(getattr(node, "decorator_list", ()))
        self._visit_all((*node.args.defaults, *(one for one in node.args.kw_defaults if one)))
        before = self._is_caught
        self._is_caught = before or self._own.catches
        self._visit_all(body)
        self._is_caught = before

    def _visit_all(self, nodes: Collection[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _judge(self, node: ast.Attribute) -> None:
        name, called = node.attr, id(node) in self._called
        root, receiver = _root(node.value), node.value
        if name in self._own.names or (root and root in self._own.asked | self._tried):
            return
        if isinstance(receiver, ast.Name) and self._scopes.may_be_module(receiver):
            return
        is_plain = not name.startswith("__")
        if (kind := self._class(receiver)) and is_plain and name in METHODS - CLASSES[kind]:
            self._say(node, f"`{kind}.{name}` does not exist in programs", _on_value(name, called))
        elif name not in VALUES and name not in METHODS:
            what = "method" if called else "attribute"
            hint = self._instead(name, receiver, called=called)
            self._say(node, f"no value in a program has the {what} `{name}`", hint)
        elif not called and name in METHODS:
            shown = receiver.id if isinstance(receiver, ast.Name) else "x"
            given = "y" if shown == "x" else "x"
            hint = f"use `lambda {given}: {shown}.{name}({given})`"
            self._say(node, f"the method `{name}` can only be called, not passed", hint)
        elif (kind := self._kind(receiver)) and name != "__exit__" and name not in KINDS[kind]:
            what = "method" if called else "attribute"
            self._say(node, f"`{kind}` has no {what} `{name}` in a program", INSTEAD.get(name, ""))

    def _instead(self, name: str, receiver: ast.expr, *, called: bool) -> str:
        shown = receiver.id if isinstance(receiver, ast.Name) else "x"
        if name in INSTEAD:
            return INSTEAD[name]
        if shown in self._own.errors:
            return f"`str({shown})` has what it says"
        if name[0] == "_":
            return ""
        if not called:
            return f'if it is a key of a dictionary, use `{shown}["{name}"]`'
        near = difflib.get_close_matches(name[:64], METHODS, n=1)
        return f"did you mean {near[0]}?" if near else ""

    def _class(self, node: ast.expr) -> str:
        """Return the builtin class that an expression names, or ""."""
        is_class = isinstance(node, ast.Name) and node.id in CLASSES
        return node.id if is_class and not self._scopes.is_bound(node) else ""  # type: ignore[attr-defined, arg-type]  # it is a name

    def _kind(self, node: ast.expr) -> str:
        """Return the kind of a value where it is certain, or ""."""
        if isinstance(node, ast.Name):
            is_tool = node.id in self._functions
            return "function" if is_tool else self._scopes.literal(node)
        if isinstance(node, ast.Call):
            return self._class(node.func)
        return literal_kind(node)

    def _say(self, node: ast.Attribute, message: str, hint: str) -> None:
        self.found.append(Lacking(line=node.lineno, name=node.attr, message=message, hint=hint))


def _on_value(name: str, called: bool) -> str:
    return f"call it on the value, `x.{name}(…)`" if called else f"use `lambda x: x.{name}()`"
