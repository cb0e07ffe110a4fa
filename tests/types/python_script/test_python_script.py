"""What `python_script` is as a type of tools."""

from vespe.tool_types import type_of
from vespe.types.python_script import execution


def test_it_is_run_by_its_own_executor() -> None:
    assert type_of("python_script").executor() is execution.EXECUTOR


def test_a_review_shows_its_script_and_function() -> None:
    assert type_of("python_script").runs({"path": "a.py", "entrypoint": "f"}) == ["a.py", "f"]
