"""A lazy module is imported at its first use and not before, in an interpreter that has seen
nothing yet.
"""

import os
import re
import subprocess
import sys

import pytest

from vespe.lazy import LIBRARIES, LazyModule, difflib, pattern, urls


def printed(program: str) -> str:
    """Run a program in an interpreter of its own, without what a test's imports, or its measured
    coverage, bring along.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        env=environment,
        text=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("name", "module"), LIBRARIES.items())
def test_a_library_is_imported_at_its_first_use_and_not_before(name: str, module: str) -> None:
    pytest.importorskip(
        module.partition(".")[0], reason=f"{module} is not installed: it is an extra"
    )
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
        "types.shell_command.execution",
        "documents.escaping",
    ]
    foreign = list(LIBRARIES.values())
    program = (
        f"import sys, {', '.join(f'vespe.{name}' for name in core)}; "
        f"print([n for n in {foreign!r} if n in sys.modules])"
    )
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


def test_a_pattern_finds_what_a_compiled_one_finds_and_takes_its_flags() -> None:
    found = pattern(r"a(.)", re.IGNORECASE)
    assert [match[1] for match in found.finditer("abAc")] == ["b", "c"] and found.pattern == r"a(.)"


def test_the_text_of_a_pattern_can_be_read_without_compiling_it() -> None:
    assert pattern("(").pattern == "("


def test_a_broken_pattern_says_so_at_its_first_use() -> None:
    with pytest.raises(re.error):
        pattern("(").search("")


def test_jsonschema_rs_comes_without_mail_and_mail_can_still_be_imported() -> None:
    program = """
import sys
from vespe.lazy import jsonschema_rs
fits = jsonschema_rs.validator_for({"type": "integer"}).is_valid
before = "email.utils" in sys.modules
import email.utils
print(fits(1), fits("1"), before, email.utils.parsedate_to_datetime("Mon, 02 Jan 2006 15:04:05 +0000").year, email.utils.formatdate(0)[:3])
"""
    assert printed(program) == "True False False 2006 Thu"


def test_what_was_imported_meanwhile_is_the_module_itself() -> None:
    program = """
import sys
from vespe import lazy
with lazy._without_mail():
    import email.utils as meant
print(meant.parsedate_to_datetime("Mon, 02 Jan 2006 15:04:05 +0000").year, meant.formatdate(0)[:3], "email.utils" in sys.modules)
"""
    assert printed(program) == "2006 Thu True"
