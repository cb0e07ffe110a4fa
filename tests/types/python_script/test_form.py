"""What a python_script may be."""

from typing import Any

import pytest

from vespe.tools.implementations import found_in_implementation

PYTHON: dict[str, Any] = {"type": "python_script", "path": "main.py", "entrypoint": "run"}


def found(details: Any, **document: Any) -> list[tuple[str, str]]:
    return [
        (one[0], one[1])
        for one in found_in_implementation({"implementation_details": details, **document})
    ]


@pytest.mark.parametrize("entrypoint", ["run", "läuft", "_x9"])
def test_a_python_function_may_have_any_name_that_python_takes(entrypoint: str) -> None:
    assert found({**PYTHON, "entrypoint": entrypoint}) == []
