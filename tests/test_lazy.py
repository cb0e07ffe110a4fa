"""A deferred module is imported at its first use and not before, in an interpreter that has seen nothing yet."""

import os
import subprocess
import sys

import pytest

from vespe.lazy import HEAVY, DeferredModule, deferred


def printed(program: str) -> str:
    """Run a program in an interpreter of its own, without what a test's imports, or its measured coverage, bring along."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment, text=True, encoding="utf-8", timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", HEAVY)
def test_a_deferred_module_is_imported_at_its_first_use_and_not_before(name: str) -> None:
    program = f"""
import sys
from vespe.lazy import deferred
module = deferred({name!r})
before = {name!r} in sys.modules
found = hasattr(module, "no_such_name")
print(before, found, {name!r} in sys.modules)
"""
    assert printed(program) == "False False True"


def test_the_core_imports_no_deferred_library() -> None:
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
    foreign = [name for name in HEAVY if not name.startswith("vespe")]
    program = f"import sys, {', '.join(f'vespe.{name}' for name in core)}; print([n for n in {foreign!r} if n in sys.modules])"
    assert printed(program) == "[]"


def test_what_a_deferred_module_gives_is_the_module_s_own() -> None:
    difflib = deferred("difflib")
    assert isinstance(difflib, DeferredModule) and "SequenceMatcher" not in vars(difflib)
    assert difflib.SequenceMatcher is __import__("difflib").SequenceMatcher
    assert "SequenceMatcher" in vars(difflib)


def test_a_submodule_of_one_in_the_table_can_be_deferred() -> None:
    assert deferred("urllib.parse").quote("a b") == "a%20b"


@pytest.mark.parametrize("name", ["json", "os", "yamlish", "", "vespe.errors", "vespe"])
def test_a_module_that_is_not_in_the_table_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not in the table of deferred modules"):
        deferred(name)


def test_a_name_that_the_module_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        deferred("difflib").no_such_name  # noqa: B018  # reading it is the test
