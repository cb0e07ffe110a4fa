"""What is read from a program's text: its tools, what is wrong at a glance, and the two texts."""

import sys

import pytest

from vespe.adapters.large_results import references
from vespe.errors import InvalidProgram
from vespe.features.programs.source import HANDLE_KEY, MAX_BYTES, MODULES, read_program

NAMES = ("read_file", "write_file")


def problems(code: str) -> list[tuple[int, str]]:
    return [(one["line"], one["message"]) for one in read_program(code, NAMES).problems]


def test_only_the_tools_that_a_program_names_are_used() -> None:
    assert read_program("x = 'write_file'\nread_file('a')", NAMES).used == ("read_file",)
    assert read_program("", NAMES).used == ()


@pytest.mark.parametrize(
    "code",
    [
        "await read_file('a')",
        "await gather(read_file('a'))",
        "await asyncio.gather(*[read_file(p) for p in 'ab'])",
        "tasks = [read_file(p) for p in 'ab']\nawait gather(*tasks)",
        "tasks = []\ntasks.append(read_file('a'))\nawait gather(*tasks)",
        "await asyncio.gather(*(read_file(p) if p else read_file('x') for p in 'ab'))",
    ],
)
def test_a_call_that_is_awaited_has_a_name_of_its_own(code: str) -> None:
    program = read_program(code, NAMES)
    assert "vespe__a_read_file(" in program.checked and "vespe__a_read_file(" in program.run
    assert "vespe__c_read_file" not in program.run


def test_a_call_within_the_arguments_of_one_that_is_awaited_is_its_value() -> None:
    program = read_program("await gather(write_file(read_file('a'), 'x'))", NAMES)
    assert "vespe__a_write_file(read_file('a'), 'x')" in program.checked
    assert "vespe__c_read_file(" in program.run


def test_lines_stay_where_they_are() -> None:
    code = "x = (\n    read_file(  # é (\n        path='é',\n    )\n)\nx\n"
    program = read_program(code, NAMES)
    assert program.checked == code and program.problems == ()
    run = program.run.splitlines()
    assert run[program.first_line + 2] == "        path='é',"
    assert "vespe__c_read_file(vespe__pack(  # é (" in run[program.first_line + 1]


@pytest.mark.parametrize("code", ["(read_file('a'))", "x = 1; read_file('a')", "[1,\n2]", "f'{1}'"])
def test_the_last_expression_is_the_result(code: str) -> None:
    run = read_program(code, NAMES).run
    compile(run, "run", "exec")
    assert "vespe__value = (" in run and run.endswith("\nvespe__dumps(vespe__value)")


def test_a_program_without_a_last_expression_has_none() -> None:
    for code in ("x = 1", "", "# nothing", "x = 1 # end"):
        assert "\nvespe__value = None\n" in read_program(code, NAMES).run


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("d = {}\ndel d['a']", "use `d.pop(key)`"),
        ("def f():\n    yield 1", "return a list"),
        ("\nclass E(Exception): pass", "cannot inherit"),
        ("import os", "no module 'os'"),
        ("import jsn", "did you mean json?"),
        ("\nfrom json import *", "`import *` is not supported"),
        ("eval('1')", "`eval` does not exist in programs"),
        ("e = exec", "`exec` does not exist in programs"),
        ("exit(1)", "`exit` does not exist in programs: let the last expression be the result"),
        ("import re\nre.subn('a', 'b', 'c')", "no 'subn' in the module 're' of a program: use `re"),
        ("import re as r\nr.X", "no 'X' in the module 're'"),
        (
            "from datetime import UTC",
            "no 'UTC' in the module 'datetime' of a program: use `timezone",
        ),
        ("from typing import NamedTuple", "leave that annotation out"),
        ("import json\njson.dumbs(1)", "did you mean dumps?"),
        ("read_file = 1", "'read_file' is the name of a tool"),
        ("def read_file(): pass", "'read_file' is the name of a tool"),
        ("for read_file in []: pass", "'read_file' is the name of a tool"),
        ("f = lambda read_file: 1", "'read_file' is the name of a tool"),
        ("vespe__value = 1", "names do not begin with `vespe__`"),
        ("map(read_file, ['a'])", "map() cannot call a tool"),
        ("sorted([], key=lambda p: read_file(p))", "sorted() cannot call a tool"),
        ("(read_file)('a')", "call 'read_file' directly"),
        ("async def f():\n    async for x in y: pass", "`async for` is not supported"),
        ("match {}:\n    case {**read_file}: pass", "'read_file' is the name of a tool"),
        ("match 1:\n    case read_file: pass", "'read_file' is the name of a tool"),
        ("match []:\n    case [*read_file]: pass", "'read_file' is the name of a tool"),
        ("def f(exit): return exit\nexit()", "`exit` does not exist in programs"),
        ("def f():\n    help = 1\nhelp", "`help` does not exist in programs"),
        ("[1 for quit in 'a']\nquit", "`quit` does not exist in programs"),
        ("f = lambda eval: eval\neval('1')", "`eval` does not exist in programs"),
        ("def f(x=exit, *, exit): return exit\nf", "`exit` does not exist in programs"),
        ("class C:\n    exit = 1\n    def f(self): return exit", "`exit` does not exist"),
        ("import re\ndef f(re): return re\nre.VERBOSE", "no 'VERBOSE' in the module 're'"),
        ("import re\n[re.X for x in (re.I, 1)]", "no 'X' in the module 're'"),
        (
            "try:\n    from collections import OrderedDict\nexcept ValueError:\n    pass",
            "no 'OrderedDict' in the module 'collections'",
        ),
        (
            "try:\n    pass\nexcept ImportError:\n    from collections import OrderedDict",
            "no 'OrderedDict' in the module 'collections'",
        ),
        (
            "import re\ntry:\n    def f(): re.X\nexcept AttributeError:\n    pass\nf()",
            "no 'X' in the module 're'",
        ),
        (
            "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n"
            "    from typing import NamedTuple",
            "no 'NamedTuple' in the module 'typing'",
        ),
    ],
)
def test_what_is_wrong_is_said_with_a_way_out(code: str, said: str) -> None:
    found = problems(code)
    assert len(found) == 1 and said in found[0][1], found
    assert found[0][0] == 1 + code.count("\n", 0, len(code) - len(code.lstrip("\n"))) or found[0][0]


def test_all_that_is_wrong_is_said_in_the_order_of_the_lines() -> None:
    assert [line for line, _ in problems("import os\neval('1')\ndel x\n")] == [1, 2, 3]


@pytest.mark.parametrize(
    "code", ["read_file(", "\0", "(" * 5000, "-" * 60_000 + "1", "x = [" * 300, "é" * MAX_BYTES]
)
def test_what_is_no_program_is_refused(code: str) -> None:
    with pytest.raises(InvalidProgram) as refused:
        read_program(code, NAMES)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    "code",
    [
        "exit = 3\nexit + 1",
        "def help(input): return input\nhelp(1)",
        "import datetime\nfrom datetime import datetime\ndatetime.now()",
        "import datetime as d\nd.datetime.now()",
        "import re\nre = {'subn': 1}\nre.subn",
        "match {'a': 1}:\n    case {'a': x, **vars}: print(vars)",
        "match [1, 2]:\n    case [x, *help]: help",
        "match 1:\n    case exit: exit",
        "def f():\n    global help\n    help = 1\nf()\nhelp",
        "def f():\n    quit = 1\n    def g():\n        nonlocal quit\n        quit = 2\n"
        "    g()\n    return quit",
        "[y for x in 'a' if (help := x)]\nhelp",
        "[exit for exit in 'a']\n{exit: 1 for exit in 'a'}\n{exit for exit in 'a'}",
        "class C:\n    exit = 1\n    n = exit",
        "try:\n    1\nexcept ValueError as quit:\n    quit",
        "def f(*open, **help): return [open, help]\nf()",
        "import re\ndef f(re): return re.X\nf",
        "def f():\n    import re\n    return re\nre = f()\nre.X",
    ],
)
def test_a_name_that_the_program_binds_is_its_own(code: str) -> None:
    assert problems(code) == []


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.12 brought type parameters")
def test_a_type_parameter_is_bound_where_it_stands() -> None:
    assert problems("def f[help](x: help): return x\nclass C[exit]:\n    x: exit") == []
    assert "`help` does not" in problems("def f[help](x): return x\nhelp")[0][1]


def test_what_stands_for_a_result_has_the_key_of_a_handle() -> None:
    code = "read_file({'$result': 'r1'})\nread_file({'result': 1})\n{'$result': 1}"
    checked = read_program(code, NAMES).checked
    assert HANDLE_KEY == references.KEY and checked.count("vespe__handle(") == 1
    assert checked.startswith("read_file(vespe__handle({'$result': 'r1'}))")


def test_modules_that_a_program_can_import_are_no_way_to_files() -> None:
    assert not MODULES & {"os", "pathlib", "sys", "subprocess", "socket", "io", "shutil"}
