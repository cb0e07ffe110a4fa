"""A function of the project's package as a tool: its schema is read, and a call imports it where it
stands.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import InvalidDocument, UsageError
from vespe.tools.in_place import draft_in_place

Command = Callable[..., Any]
SOURCE = '''
from shop.rates import RATE


def price(net: float, country: str = "IT") -> float:
    """Say what a thing costs.

    Args:
        net: Without tax.
    """
    print("asked for", country)
    return net * RATE


async def later(net: float) -> float:
    """Say it later."""
    return net
'''


def package(at: Path) -> None:
    (at / "shop").mkdir(parents=True)
    (at / "shop/__init__.py").write_text("", encoding="utf-8")
    (at / "shop/rates.py").write_text("RATE = 2\n", encoding="utf-8")
    (at / "shop/prices.py").write_text(SOURCE, encoding="utf-8")


@pytest.mark.parametrize("root", [".", "src"])
def test_t5_a_function_that_needs_its_package_runs_where_it_stands(
    root: str, command: Command, project: Path
) -> None:
    package(project / root)
    made = command("tool", "create", "price", "--from", "shop.prices:price", "--in-place")
    file = "src/shop/prices.py" if root == "src" else "shop/prices.py"
    assert made.code == 0
    assert f"the current {file}. An approval does not cover this file" in made.err
    command("untrust")
    review = command("trust").err
    assert "also runs  the module shop.prices of the project as it is at each call" in review
    assert command("trust", "--yes").code == 0
    done = command("tool", "run", "price", "net=3", "--json").document
    assert done["result"] == 6 and "asked for IT" in done["logs"]
    (project / root / "shop/rates.py").write_text("RATE = 5\n", encoding="utf-8")
    assert command("tool", "run", "price", "net=3").out.strip() in ("15", "15.0")
    assert command("tool", "run", "price").code == 5, "its schema was derived"


def test_t5_an_async_function_and_the_projects_own_python(command: Command, project: Path) -> None:
    package(project)
    assert command("tool", "create", "later", "--from", "shop.prices:later", "--in-place").code == 0
    python = project / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(
        f'#!/bin/sh\ntouch own\nexec {shutil.which("python3")} "$@"\n', encoding="utf-8"
    )
    python.chmod(0o755)
    assert (
        command("tool", "run", "later", "net=3", "--json").document["result"] == 3
        and (project / "own").exists()
    )


@pytest.mark.parametrize(
    "source",
    [
        "shop.nowhere:price",
        "shop/prices.py:price",
        "shop.prices",
        "../shop.prices:price",
        ".:price",
    ],
)
def test_what_is_no_function_of_a_module_there_is_a_sentence(source: str, tmp_path: Path) -> None:
    package(tmp_path)
    with pytest.raises(UsageError):
        draft_in_place(source, directory=str(tmp_path))
    with pytest.raises(InvalidDocument):
        draft_in_place("shop.prices:nothing", directory=str(tmp_path))


def test_in_place_goes_with_a_function(command: Command) -> None:
    assert command("tool", "create", "x", "--type", "python_script", "--in-place").code == 2


ITEMS = """
import os
from dataclasses import dataclass
from enum import Enum
from datetime import date


class Kind(Enum):
    BOOK = "book"


@dataclass
class Item:
    net: float
    kind: Kind = Kind.BOOK


def gross(item: Item, on: date, others: list[Item] | None = None) -> Item:
    "Say what it costs."
    if item.net < 0:
        print("no price soon")
        raise ValueError("no\\nprice")
    if item.net == 0:
        os._exit(3)
    return Item(item.net * 2 + sum(one.net for one in others or []) + on.year, item.kind)
"""


def test_arguments_come_as_the_annotations_say_and_results_as_json(
    command: Command, project: Path
) -> None:
    package(project)
    (project / "shop/items.py").write_text(ITEMS, encoding="utf-8")
    assert command("tool", "create", "gross", "--from", "shop.items:gross", "--in-place").code == 0
    call = ("tool", "run", "gross", "on=2026-01-02", 'others=[{"net": 1}]', "--json")
    done = command(*call, 'item={"net": 3, "kind": "book"}').document
    assert done.get("result") == {"net": 2033.0, "kind": "book"}, done
    failed = command(*call, 'item={"net": -3}').document["error"]
    assert failed["message"] == "ValueError: no price (shop/items.py, line 22)"
    assert "no price soon" in failed["details"]["stderr"], "what it printed is not in the message"
    assert str(project) not in str(failed)
    ended = command(*call, 'item={"net": 0}').document["error"]
    assert ended["message"] == "the function failed with exit status 3"
    wrong = command("tool", "run", "gross", "on=soon", 'item={"net": 1}', "--json").document
    assert "/on must be a date such as" in wrong["error"]["message"]


def test_a_changed_function_is_noticed_and_its_schema_derived_again(
    command: Command, project: Path
) -> None:
    package(project)
    command("tool", "create", "price", "--from", "shop.prices:price", "--in-place")
    assert "every schema matches" in command("tool", "sync").err
    changed = SOURCE.replace('country: str = "IT"', 'country: str = "IT", reduced: bool = False')
    (project / "shop/prices.py").write_text(changed, encoding="utf-8")
    assert "reduced" in command("lint").out
    for words in (("--check",), ("price", "--check")):
        assert command("tool", "sync", *words).code == 1
    assert (
        command("tool", "sync").code == 0
        and "reduced" not in command("lint", "--select", "signature").out
    )
    assert command("tool", "run", "price", "net=3", "reduced=true").code == 0
    (project / "shop/prices.py").rename(project / "shop/costs.py")
    assert "shop.prices" in command("lint", "--select", "signature-origin").out
    assert "shop.prices:price" in command("tool", "sync").err
    assert command("tool", "sync", "price", "--from", "shop.costs:price").code == 0
    assert command("tool", "run", "price", "net=3").code == 0


OLD = '''"""Calls shop.items:gross of the project with the inputs on stdin; what it prints is the log."""

import asyncio
import importlib
import inspect
import json
import os
import sys

result = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
sys.path.insert(0, os.path.join(os.getcwd(), "."))
answer = importlib.import_module("shop.items").gross(**json.load(sys.stdin))
if inspect.isawaitable(answer):

    async def awaited():
        return await answer

    answer = asyncio.run(awaited())
json.dump(answer, result, ensure_ascii=False)
result.flush()
'''


def test_what_0_2_wrote_to_call_the_function_is_written_anew(
    command: Command, project: Path
) -> None:
    package(project)
    (project / "shop/items.py").write_text(ITEMS, encoding="utf-8")
    made = command("tool", "create", "g", "--from", "shop.items:gross", "--in-place", "--json")
    directory = Path(made.document["path"])
    (directory / "values.py").unlink()
    call = ("tool", "run", "g", "on=2026-01-02", 'item={"net": 3}', "--json")
    (directory / "call.py").write_text(OLD.replace("flush()", "flush()  # mine"), encoding="utf-8")
    assert "every schema matches" in command("tool", "sync").err, "what its author changed stays"
    (directory / "call.py").write_text(OLD, encoding="utf-8")
    assert command(*call).code == 1
    assert command("tool", "sync").code == 0 and command(*call).code == 0


def test_a_file_names_the_same_function_as_its_module(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(project / "src")
    (project / "calc.py").write_text("def calc(a: int) -> int:\n    return a\n", encoding="utf-8")
    assert command("tool", "create", "calc", "--from", "calc.py:calc", "--in-place").code == 0
    assert command("tool", "run", "calc", "a=1", "--json").document["result"] == 1
    monkeypatch.chdir(project / "src/shop")
    assert command("tool", "create", "price", "--from", "prices.py:price", "--in-place").code == 0
    monkeypatch.chdir(project)
    assert command("tool", "run", "price", "net=3", "--json").document["result"] == 6


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("gone.py:price", "--in-place"), "there is no file gone.py"),
        (("outside.py:f", "--in-place"), "outside.py is not a module of the project in "),
        (("shop.nowhere:f", "--in-place"), "the file shop/nowhere.py or shop/nowhere/__init__.py"),
        (("shop.prices:price",), "needs `--in-place`"),
        (("shop.prices:price",), "`--from src/shop/prices.py:price` copies the file"),
    ],
)
def test_what_names_no_function_is_answered_with_what_would(
    arguments: tuple[str, ...],
    says: str,
    command: Command,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package(project / "src")
    (project.parent / "outside.py").write_text("def f() -> int:\n    return 1\n", encoding="utf-8")
    if arguments[0].startswith("outside"):
        monkeypatch.setenv("VESPE_PROJECT", str(project))
        monkeypatch.chdir(project.parent)
    said = command("tool", "create", "x", "--from", *arguments)
    assert said.code == 2 and says in " ".join(said.err.split())


def test_in_place_alone_names_what_it_needs(command: Command) -> None:
    said = command("tool", "create", "x", "--in-place")
    assert said.code == 2 and "--in-place needs --from FILE.py:function" in said.err


def test_a_call_that_fails_says_that_the_function_has_changed_or_moved(
    command: Command, project: Path
) -> None:
    package(project)
    command("tool", "create", "price", "--from", "shop.prices:price", "--in-place")
    prices = project / "shop/prices.py"
    changed = SOURCE.replace("country: str", "land: str").replace("country)", "land)")
    prices.write_text(changed, encoding="utf-8")
    said = " ".join(command("tool", "run", "price", "net=3", "land=IT").err.split())
    assert "has changed: `vespe tool sync price` derives the schema again" in said
    assert command("tool", "sync", "price").code == 0
    assert command("tool", "run", "price", "net=3", "land=IT").code == 0
    prices.rename(project / "shop/costs.py")
    said = " ".join(command("tool", "run", "price", "net=3").err.split())
    assert "shop.prices, which price runs in place, no longer exists" in said
    assert "`vespe tool sync price --from FILE.py:price`" in said
    assert command("tool", "sync", "price", "--from", "shop/costs.py:price").code == 0
    assert command("tool", "run", "price", "net=3").code == 0


@pytest.mark.parametrize("root", [".", "src"])
def test_a_file_with_a_relative_import_is_not_copied_and_the_named_command_works(
    root: str, command: Command, project: Path
) -> None:
    package(project / root)
    source = SOURCE.replace("from shop.rates", "from .rates")
    (project / root / "shop/prices.py").write_text(source, encoding="utf-8")
    file = "src/shop/prices.py" if root == "src" else "shop/prices.py"
    refused = command("tool", "create", "price", "--from", f"{file}:price")
    assert refused.code == 2 and not list((project / ".vespe/tools").glob("tool-*"))
    told = " ".join(refused.err.split())
    assert f"a copy of {file} cannot run outside its package" in told
    assert "it has `from .rates import RATE`" in told
    (words,) = re.findall("`vespe (tool create [^`]+)`", told)
    assert command(*words.split()).code == 0
    assert command("tool", "run", "price", "net=3").out.strip() in ("6", "6.0")


def test_a_relative_import_that_may_never_run_is_only_warned_of_and_the_commands_work(
    command: Command, project: Path
) -> None:
    package(project)
    source = SOURCE.replace("from shop.rates import RATE\n", "").replace(
        "    print(", "    from .rates import RATE\n    print("
    )
    (project / "shop/prices.py").write_text(source, encoding="utf-8")
    said = command("tool", "create", "price", "--from", "shop/prices.py:price")
    told = " ".join(said.err.split())
    assert said.code == 0 and "it imports .rates from its own project" in told
    assert "`vespe tool remove price --yes` and create it again with `--in-place`" in told
    assert "into the tool's directory" not in told
    failed = " ".join(command("tool", "run", "price", "net=3").err.split())
    assert "so `from .module import name` does not work" in failed and "--in-place" in failed
    assert command("tool", "remove", "price", "--yes").code == 0
    again = ("tool", "create", "price", "--from", "shop/prices.py:price", "--in-place")
    assert command(*again).code == 0
    assert command("tool", "run", "price", "net=3").code == 0


def test_a_relative_import_outside_the_project_is_refused_without_a_command_that_fails(
    command: Command, project: Path, tmp_path: Path
) -> None:
    package(tmp_path / "elsewhere")
    file = tmp_path / "elsewhere/shop/prices.py"
    file.write_text(SOURCE.replace("from shop.rates", "from .rates"), encoding="utf-8")
    refused = command("tool", "create", "price", "--from", f"{file}:price")
    told = " ".join(refused.err.split())
    assert refused.code == 2 and "copy the module into the tool's directory" in told
    assert "--in-place" not in told
