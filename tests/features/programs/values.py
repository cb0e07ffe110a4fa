"""What the interpreter's values have, asked of the interpreter itself: which names can be read of a
value, and which can only be called.
"""

import importlib
import keyword
import re
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from tests.support.ondisk import PATIENCE_S
from vespe.features.programs import interpreter, members
from vespe.features.programs.source import MODULES

KINDS: Final = {
    "str": "'a'",
    "bytes": "b'a'",
    "int": "1",
    "float": "1.5",
    "bool": "True",
    "NoneType": "None",
    "list": "[1]",
    "dict": "{1: 2}",
    "set": "{1}",
    "frozenset": "frozenset()",
    "tuple": "(1,)",
    "range": "range(3)",
    "function": "function",
}
"""A value of each kind that a program shows by its syntax."""
_OTHERS: Final = (
    *("1j", "slice(1)", "...", "{}.keys()", "{}.values()", "{}.items()", "enumerate([])"),
    *("zip([])", "map(str, [])", "reversed([])", "iter([])", "iter('')", "iter({})"),
    *("(x for x in [])", "datetime.date(2020, 1, 1)", "datetime.datetime(2020, 1, 1)"),
    *("datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)", "datetime.time(1)"),
    *("datetime.timedelta(1)", "datetime.timezone.utc", "re.match('a', 'a')", "re.compile('a')"),
    *("decimal.Decimal(1)", "decimal.Decimal(1).as_tuple()", "decimal.getcontext()"),
    *("collections.Counter('a')", "collections.defaultdict(list)", "collections.deque([1])"),
    *("pair(1, 2)", "pair", "Data(1)", "Data", "Plain()", "Plain", "Plain().run"),
    *("awaited()", "lambda: 1", "len", "hashlib.sha256(b'a')", "hashlib.shake_128(b'a')"),
    *("hashlib.blake2b(b'a')", "random.Random(1)", "itertools.chain([])", "itertools.count()"),
    *("functools.partial(len)", "functools.lru_cache(function)", "functools.cache(function)"),
    *("functools.cache(function).cache_info()", "csv.reader(['a'])", "csv.DictReader(['a'])"),
    *("csv.writer(Plain())", "csv.DictWriter(Plain(), ['a'])", "csv.get_dialect('excel')"),
    *("dataclasses.field()", "dataclasses.MISSING", "time.localtime()", "time.gmtime()"),
    *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "type(1)"),
    *("type", "type(None)", "type(type(1))", "raised(lambda: json.loads('{'))"),
    *("raised(lambda: 1 / 0)", "raised(lambda: b'\\xff'.decode())", "raised(lambda: {}['a'])"),
    *("raised(lambda: None.a)", "raised(lambda: next(iter([])))", "OSError('a')"),
    *("raised(lambda: setattr(Frozen(1), 'a', 2))", "ValueError('a')", "ValueError"),
    *("raised(lambda: re.compile('('))", "raised(lambda: decimal.Decimal('x'))"),
    *("asyncio.sleep(0)", "typing.List", "list[int]"),
    *("int | str", "re.I"),
)
BEFORE: Final = f"""\
import {", ".join(sorted(MODULES))}
@dataclasses.dataclass
class Data:
    a: int
@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
class Plain:
    def run(self): pass
    def write(self, said): pass
pair = collections.namedtuple('pair', 'a b')
def function(): pass
async def awaited(): pass
def raised(run):
    try:
        run()
    except Exception as error:
        return error
"""
_OWN: Final = frozenset(("a", "b", "run", "write"))
"""What those classes define themselves."""
_FORMS: Final = {"read": "", "call": "()"}
_TRIED: Final = "try:\n    {0}\n    found.append({0!r})\nexcept AttributeError:\n    pass\n"
_ASKED: Final = """
for number, make in enumerate(makers):
    value = make()
    try:
        value.{name}{form}
    except BaseException as error:
        if not isinstance(error, AttributeError) or 'has no attribute' not in str(error):
            found[number].append('{name}')
    else:
        found[number].append('{name}')
"""


_DECLARED: Final = re.compile(rb"\n +(?:async )?(?:def )?([A-Za-z_]\w*)(?=\(|: )")
"""A name that the interpreter's declarations, which stand in its program, give to a class."""


def values() -> list[str]:
    """Return the values to ask about, as expressions."""
    classes = [
        f"{module}.{name}"
        for module in sorted(MODULES)
        for name in dir(importlib.import_module(module))
        if name[0] != "_"
    ]
    there = f"found = []\n{''.join(map(_TRIED.format, classes))}found"
    return [*KINDS.values(), *_OTHERS, *members.CLASSES, *ask(BEFORE + there)]


def candidates() -> list[str]:
    """Return the names that a value may have: those that Python's own have, those that the
    interpreter declares, and those of the tables.
    """
    space: dict[str, Any] = {}
    exec(BEFORE, space)
    found = set[str]()
    for value in values():
        made = eval(value, space)
        found.update(dir(made))
        if isinstance(made, types.CoroutineType):
            made.close()
    with open(interpreter._binary(), "rb") as file:
        found.update(name.decode() for name in _DECLARED.findall(file.read()))
    found.update(members.VALUES, members.METHODS, members.INSTEAD)
    return sorted(name for name in found - _OWN if not keyword.iskeyword(name))


def ask(code: str) -> Any:
    """Return what the interpreter makes of a text, without any check."""
    with interpreter.session("auto", timeout_s=PATIENCE_S) as held:
        return held.turn(lambda: held.inner.feed_run(code))


@cache
def derived(form: str) -> Mapping[str, frozenset[str]]:
    """Return for each value the names that can be read of it ("read"), or called ("call")."""
    asked = values()
    makers = ", ".join(f"lambda: {value}" for value in asked)
    tried = "".join(_ASKED.format(name=name, form=_FORMS[form]) for name in candidates())
    found = ask(f"{BEFORE}makers = [{makers}]\nfound = [[] for _ in makers]\n{tried}found")
    return {value: frozenset(names) for value, names in zip(asked, found, strict=True)}
