"""The check of a program: everything that is wrong in one answer, and nothing runs."""

import importlib
from collections.abc import Mapping

import pytest

from tests.features.programs.toolbox import TOOLS, run
from vespe.errors import InvalidProgram
from vespe.features.programs.checking import check_program
from vespe.features.programs.source import BUILTINS, MODULES, no_builtin
from vespe.models import Tool

pytest.importorskip("pydantic_monty")


def problems(code: str, tools: Mapping[str, Tool] = TOOLS) -> list[tuple[int, str]]:
    with pytest.raises(InvalidProgram) as refused:
        check_program(code, tools, setting="auto")
    assert refused.value.retryable and refused.value.code == "invalid_program"
    return [(one["line"], one["message"]) for one in refused.value.details["problems"]]


def test_all_that_is_wrong_is_in_one_answer() -> None:
    found = problems(
        "reed_file('a')\nread_file(3)\nread_file(pth='a')\nimport socket\nopen('x')\ndel x\n"
        "count(n='a')\n"
    )
    assert {line for line, _ in found} == {1, 2, 3, 4, 5, 6, 7}
    said = "\n".join(f"{line}: {message}" for line, message in found)
    assert "1: there is no tool or variable called 'reed_file': did you mean read_file" in said
    assert "2: Argument to function `read_file` is incorrect: Expected `str`" in said
    assert "3: Argument `pth` does not match any known parameter of function `read_file`" in said
    assert (
        "4: there is no module 'socket'" in said and "5: `open` does not exist in programs" in said
    )
    assert "vespe__" not in said and "main.py" not in said


def test_a_good_program_passes_and_only_its_tools_are_loaded() -> None:
    class Loading(dict[str, object]):
        def __getitem__(self, name: str) -> object:
            loaded.append(name)
            return TOOLS[name]

    loaded: list[str] = []
    code = "try:\n    read_file('a')\nexcept (PermissionError, ValueError) as e:\n    print(e)\n"
    checked = check_program(code, Loading(TOOLS), setting="auto")  # type: ignore[arg-type]  # it is a mapping of tools
    assert loaded == ["read_file"] and list(checked.tools) == ["read_file"]


@pytest.mark.parametrize(
    "code",
    [
        "import asyncio\na, b = await asyncio.gather(read_file('a'), read_file('b'))\na.upper() + b",
        "async def main():\n    return await read_file('a')\nawait main()",
        "list(map(str, [1]))\nfilter(None, [])\nformat(1, '.2f')\nhasattr(1, 'a')",
        "def f():\n    global n\n    n = 1\nn = 0\nf()",
        "list_('a')['x'][0].upper()",
        "if __name__ == '__main__':\n    print(write_file('a', content='b'))",
        "f\"{read_file('a')} {read_file('b')!r:>10}\"",
    ],
)
def test_what_models_write_passes(code: str) -> None:
    assert check_program(code, TOOLS, setting="auto").program.problems == ()


@pytest.mark.parametrize(
    ("code", "result"),
    [
        (
            "try:\n    from collections import (\n        deque,\n        OrderedDict,\n    )\n"
            "except ImportError:\n    OrderedDict = dict\nlist(OrderedDict(a=1))",
            ["a"],
        ),
        ("import re\ntry:\n    n = re.X\nexcept (ValueError, AttributeError):\n    n = 1\nn", 1),
        ("try:\n    from typing import NamedTuple\nexcept Exception:\n    n = 1\nn", 1),
        ("try:\n    from typing import NamedTuple\nexcept:\n    n = 1\nn", 1),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
            "    from typing import NamedTuple\n1",
            1,
        ),
        (
            "import typing\nif typing.TYPE_CHECKING:\n    from collections import OrderedDict\n1",
            1,
        ),
        ("match {'a': 1, 'b': 2}:\n    case {'a': x, **vars}:\n        n = vars\nn", {"b": 2}),
    ],
)
def test_a_program_that_provides_for_what_is_not_there_runs(code: str, result: object) -> None:
    assert run(code).result == result


def test_a_builtin_that_is_not_there_is_named_as_such_wherever_it_is_used() -> None:
    for name in BUILTINS:
        [(line, said)] = problems(f"def f({name}): return {name}\n{name}")
        assert line == 2 and said == no_builtin(name)
    # bound, and not yet where it is used
    [(_, said)] = problems("def f():\n    x = open\n    open = 1\n    return x\nf()")
    assert "`open`" in said


def test_types_of_results_are_known() -> None:
    assert "no attribute `foo`" in problems("read_file('a').foo")[0][1]
    assert "no attribute `foo`" in problems("(await read_file('a')).foo")[0][1]


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_name_that_a_module_lacks_is_refused_and_no_other_is(module: str) -> None:
    """What Python has in a module, is there when a program runs or refused before it does."""
    names = sorted(name for name in dir(importlib.import_module(module)) if name[0] != "_")
    has = f"import {module}\n[name for name in {names} if hasattr({module}, name)]"
    there = set(run(has).result)
    assert there
    for said in (f"from {module} import {{}}", f"{module}.{{}}"):
        for part in range(0, len(names), 40):
            tried = names[part : part + 40]
            lines = [f"import {module}", *(said.format(name) for name in tried)]
            refused = {line for line, _ in problems("\n".join([*lines, "nothing()"]), tools={})}
            assert {name for line, name in enumerate(tried, 2) if line not in refused} == (
                there & {*tried}
            )


def test_a_name_that_a_module_lacks_comes_with_what_to_use() -> None:
    [(line, said)] = problems("import json\nfrom collections import OrderedDict")
    assert line == 2 and said.endswith(
        "'collections' of a program: use a dict, which keeps its order"
    )


def test_a_handle_may_stand_for_any_value_only_where_there_are_handles() -> None:
    code = "read_file({'$result': 'r1'})\nawait read_file(path={'$result': 'r1', 'pointer': '/a'})"
    assert check_program(code, TOOLS, setting="auto", handles=True).program.problems == ()
    assert [line for line, said in problems(code) if "Expected `str`, found `dict" in said] == [
        1,
        2,
    ]


def test_a_program_whose_check_takes_too_much_is_refused() -> None:
    found = problems("x = " + "+".join(["1"] * 3000) + "\nreed_file()\n")
    assert found
