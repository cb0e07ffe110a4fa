"""Modules by the names that earlier versions taught."""

import importlib
import importlib.util
import subprocess
import sys
import warnings

import pytest

from vespe import moved


@pytest.mark.parametrize("old", sorted(moved.NAMES))
def test_an_old_name_gives_the_new_modules_own_values_and_says_where_it_is_now(old: str) -> None:
    parent = old.rpartition(".")[0]
    if parent in moved.NAMES:
        with warnings.catch_warnings(action="ignore"):
            importlib.import_module(parent)
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} has moved: import {moved.NAMES[old]}"):
        found = importlib.import_module(old)
    new = importlib.import_module(moved.NAMES[old])
    values = {name: value for name, value in vars(new).items() if not name.startswith("_")}
    assert values or old == "vespe.conversation"
    assert all(getattr(found, name) is value for name, value in values.items())


def test_what_was_taught_as_an_import_still_runs_with_the_warning_at_the_importing_line() -> None:
    code = "from vespe.recordings import RecordingProvider\nfrom vespe.confined import Directory as D\nprint(D.__module__)"
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", code],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stdout == "vespe.files.confined\n"
    assert (
        "<string>:1: DeprecationWarning" in done.stderr
        and "<string>:2: DeprecationWarning" in done.stderr
    )


def test_a_name_that_never_was_is_not_found() -> None:
    assert importlib.util.find_spec("vespe.nothing_of_that_name") is None
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("vespe.nothing_of_that_name")


def test_importing_the_package_does_not_load_the_table() -> None:
    code = "import sys, vespe; print('vespe.moved' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        ).stdout
        == "False\n"
    )
