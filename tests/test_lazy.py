"""A lazy module is imported at its first use and not before, in an interpreter that has seen nothing yet."""

import os
import subprocess
import sys

import pytest

from vespe.lazy import LIBRARIES, LazyModule, difflib, urls


def printed(program: str) -> str:
    """Run a program in an interpreter of its own, without what a test's imports, or its measured coverage, bring along."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment, text=True, encoding="utf-8", timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("name", "module"), LIBRARIES.items())
def test_a_library_is_imported_at_its_first_use_and_not_before(name: str, module: str) -> None:
    pytest.importorskip(module.partition(".")[0], reason=f"{module} is not installed: it is an extra")
    program = f"""
import sys
from vespe.lazy import {name} as module
before = {module!r} in sys.modules
found = hasattr(module, "no_such_name")
print(before, found, {module!r} in sys.modules)
"""
    assert printed(program) == "False False True"


def test_the_core_imports_no_lazy_library() -> None:
    core = [
        "errors",
        "defaults",
        "models",
        "documents.strict_json",
        "tools.templates",
        "documents.redaction",
        "processes.process",
        "calls.executors.shell_command",
        "cli.escaping",
    ]
    foreign = list(LIBRARIES.values())
    program = f"import sys, {', '.join(f'vespe.{name}' for name in core)}; print([n for n in {foreign!r} if n in sys.modules])"
    assert printed(program) == "[]"


def test_what_a_lazy_module_gives_is_the_module_s_own() -> None:
    assert isinstance(difflib, LazyModule)
    assert difflib.SequenceMatcher is __import__("difflib").SequenceMatcher
    assert "SequenceMatcher" in vars(difflib)


def test_a_submodule_has_a_name_of_its_own() -> None:
    assert urls.quote("a b") == "a%20b"


def test_a_name_that_the_module_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        difflib.no_such_name  # type: ignore[attr-defined]  # noqa: B018  # reading it is the test
