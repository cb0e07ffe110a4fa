"""A function of the project's package as a tool: its schema is read, and a call imports it where it
stands.
"""

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
    assert made.code == 0 and "as it stands" in made.err
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
