"""What a new python_script begins with runs at once."""

import pytest

from vespe.types.python_script.template import python_template


@pytest.mark.parametrize("given", [False, True])
def test_the_python_template_defines_its_function_and_returns_something_useful(given: bool) -> None:
    template, space = python_template("count-it", None, given=given), dict[str, object]()
    exec(template.script, space)
    function = space[template.entrypoint]
    assert callable(function) and template.entrypoint == "count_it"
    assert function(text="a b") == (
        {"received": {"text": "a b"}} if given else {"characters": 3, "words": 2, "lines": 1}
    )
