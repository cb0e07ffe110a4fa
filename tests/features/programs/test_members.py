"""What the values of a program have, as the interpreter itself says it; what it lacks is refused
before anything runs, and no program that provides for it is.
"""

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.features.programs.test_checking import problems
from tests.features.programs.toolbox import run
from tests.features.programs.values import BEFORE, KINDS, candidates, derived
from vespe.features.programs import members
from vespe.features.programs.members import lacking
from vespe.features.programs.scopes import Scopes
from vespe.features.programs.source import read_program

pytest.importorskip("pydantic_monty")
CASES: Final = Path(__file__).parents[2] / "cases/programs"


def found(code: str) -> list[tuple[int, str]]:
    tree = ast.parse(code)
    return [(one.line, one.said) for one in lacking(tree, Scopes(tree))]


def public(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name in names if not name.startswith("__"))


def test_the_tables_are_what_the_interpreter_has() -> None:
    read = frozenset().union(*derived("read").values())
    called = frozenset().union(*derived("call").values())
    assert read == members.VALUES
    assert called - read == members.METHODS
    for kind, value in KINDS.items():
        assert public(derived("call")[value]) == members.KINDS[kind], kind
        assert not derived("read")[value], kind
    for kind, names in members.CLASSES.items():
        assert public(derived("call")[kind]) == names, kind


def test_what_a_value_has_is_never_refused_and_what_none_has_always_is() -> None:
    giving = {"__setattr__", "namedtuple"}  # where a program may give values any names
    names = sorted({*candidates()} - giving)
    for form, said in (("read", "{}.{}"), ("call", "{}.{}()")):
        has = frozenset().union(*derived("read").values(), *derived(form).values())
        for value, there in derived(form).items():
            for receiver in ("x", f"({value})"):
                lines = [f"{BEFORE}x = {value}", *(said.format(receiver, name) for name in there)]
                assert found("\n".join(lines)) == [], value
        wrong = found("\n".join(said.format("x", name) for name in names))
        assert {names[line - 1] for line, _ in wrong} == {*names} - has


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("'{a}'.format_map({'a': 1})", "the method `format_map`: use `format(**d)`"),
        (
            "x = count(n=1)\nx.words",
            "the attribute `words`: if it is a key of a dictionary, use `x[",
        ),
        ("count(n=1).push(2)", "the method `push`: use `append`"),
        ("count(n=1).appendd(2)", "the method `appendd`: did you mean append?"),
        ("x = count(n=1)\nsorted('ab', key=x.get)", "`get` can only be called, not passed: use `l"),
        ("f = count(n=1)['a'].append\nf(1)", "use `lambda y: x.append(y)`"),
        (
            "list(map(str.upper, ['a']))",
            "`str.upper` does not exist in programs: use `lambda x: x.up",
        ),
        ("str.upper('a')", "`str.upper` does not exist in programs: call it on the value"),
        ("n = 3\nn.real", "`int` has no attribute `real` in a program"),
        ("(1.5).as_integer_ratio()", "`float` has no method `as_integer_ratio` in a program"),
        ("range(3).index(1)", "`range` has no method `index` in a program"),
        ("read_file.__name__", "`function` has no attribute `__name__` in a program"),
        ("def f(): pass\nf.__doc__", "`function` has no attribute `__doc__` in a program"),
        ("(1).__class__", "no attribute `__class__` in a program: use `type(x)`"),
        ("b'a'.expandtabs()", "`bytes` has no method `expandtabs` in a program"),
        ("from datetime import datetime as d\nd.utcnow()", "use `datetime.now(timezone.utc)`"),
        (
            "try:\n    count(n=1)\nexcept RuntimeError as e:\n    print(e.message)",
            "has no attribute `message`: `str(e)` has what it says",
        ),
        ("def f(x):\n    return x.words\nf(1)", "no value in a program has the attribute `words`"),
        ("class C:\n    n = 1\n    m = count(n=1).words", "the attribute `words`"),
        ("try:\n    pass\nexcept ValueError:\n    count(n=1).words", "the attribute `words`"),
        ("x = [one.words for one in count(n=1)]", "the attribute `words`"),
    ],
)
def test_a_name_that_a_value_lacks_is_refused_and_nothing_runs(code: str, said: str) -> None:
    assert any(said in message for _, message in problems(code)), problems(code)


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    x = count(n=1).words\nexcept AttributeError:\n    x = 1\nx",
        "try:\n    x = count(n=1).words\nexcept Exception:\n    x = 1\nx",
        "try:\n    x = count(n=1).words\nexcept:\n    x = 1\nx",
        "E = AttributeError\ntry:\n    x = count(n=1).words\nexcept E:\n    x = 1\nx",
        "def f(x): return x.words\ntry:\n    x = f(1)\nexcept AttributeError:\n    x = 1\nx",
        "def tried(f):\n    try:\n        return f()\n    except Exception:\n        return 1\n"
        "tried(lambda: count(n=1).words)",
        "class C:\n    def __enter__(self): return 1\n    def __exit__(self, *e): return True\n"
        "with C():\n    count(n=1).words\n1",
        "x = count(n=1)\nx.words if hasattr(x, 'words') else 1",
        "x = count(n=1)\n1 if isinstance(x, dict) else x.words",
        "def f(x):\n    if isinstance(x, dict): return 1\n    return x.words\nf(count(n=1))",
        "x = count(n=1)\n1 if type(x) is dict else x.words",
        "x = count(n=1)\ntry:\n    x = x['n']\nexcept TypeError:\n    x = x.words\nx",
        "x = count(n=1)\nmatch x:\n    case {'n': n}: x = n\n    case other: x = other.words\nx",
        "class C:\n    words = 1\nx = [C()]\nx[0].words",
        "class C:\n    def words(self): return 1\n    def get(self): return 1\nf = C().get\nf()",
        "class C: pass\ndef f(c):\n    c.words = 1\n    return c.words\nf(C())",
        "class C: pass\nc = C()\nsetattr(c, 'words', 1)\ndef f(x): return x.words\nf(c)",
        "class C: pass\nc = C()\nfor k in ['wor' + 'ds']: setattr(c, k, 1)\ndef f(x): return x.words\nf(c)",
        "class C: pass\nc = C()\nobject.__setattr__(c, 'wor' + 'ds', 1)\n"
        "def f(x): return x.words\nf(c)",
        "from collections import namedtuple\nP = namedtuple('P', 'words, n')\n"
        "x = [P(1, 2)]\nx[0].words",
        "from collections import namedtuple\nP = namedtuple('P', ['words'])\nx = [P(1)]\nx[0].words",
        "from collections import namedtuple as nt\nP = nt('P', 'words'.split())\n"
        "x = [P(1)]\nx[0].words",
        "import collections\nP = collections.namedtuple('P', {'words': 1}.keys())\n"
        "def f(x): return x.words\nf(P(1))",
        "import collections\nnt = collections.namedtuple\nP = nt('P', 'words')\nx = [P(1)]\nx[0].words",
        "from dataclasses import dataclass\n@dataclass\nclass C:\n    words: int\nx = [C(1)]\nx[0].words",
        "import json\nmods = [json]\nlen(mods[0].dumps(1))",
        "import json\nimport math\nm = math\nm = json\nlen(m.dumps(1))",
        "x = 'a'\nx = [1]\nx.count(1)",
        "x = [1]\ndef f(x): return x.n\nclass C:\n    n = 1\nf(C())",
        "str = [1]\nstr.count(1)",
        "import functools\n@functools.cache\ndef f(): return 1\nf.cache_info().misses + f()",
        "dict.fromkeys('a')\n1",
        "import itertools\nf = itertools.chain.from_iterable\nlist(f([[1]]))[0]",
        "from decimal import Decimal, getcontext\ngetcontext().prec = 5\nint(Decimal('1').sqrt())",
        "import re\nm = re.match('(?P<a>1)', '1')\nassert m\nint(m.groupdict()['a'])",
        "try:\n    raise ValueError('a')\nexcept ValueError as e:\n    x = len(e.args)\nx",
    ],
)
def test_a_program_that_runs_is_not_refused(code: str) -> None:
    outcome = run(code)
    assert outcome.ok and outcome.result in (1, 3), outcome


def test_one_name_is_said_once_with_its_kind_where_that_is_known() -> None:
    assert problems("x = [1]\nx.push(2)") == [
        (2, "Object of type `list[int]` has no attribute `push`: use `append`")
    ]
    [(_, said)] = problems("class C:\n    n = 1\nC().words")
    assert said.endswith("has no attribute `words`")


@pytest.mark.parametrize("path", sorted(CASES.glob("*.honest.py")), ids=lambda path: path.name)
def test_no_honest_program_lacks_anything(path: Path) -> None:
    program = read_program(path.read_text(encoding="utf-8"), ("spend", "steal", "echo"))
    assert program.lacking == ()
