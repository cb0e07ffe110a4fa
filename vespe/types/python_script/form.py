"""What `implementation_details` of a python_script may be."""

import keyword
from typing import Any, Final

from vespe.schemas import forms
from vespe.tools.implementations import not_inputs


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier() and not keyword.iskeyword(value)


FORM: Final = forms.DetailsForm(
    keys={
        "path": forms.own_file(
            "a .py file inside the tool's directory",
            ends=".py",
            description="The script, relative to the tool's directory.",
        ),
        "entrypoint": forms.kind(
            "the name of the function that runs",
            _is_name,
            {
                "type": "string",
                # beyond ASCII a pattern takes more than Python does
                "pattern": r"^[^\u0000-@\[-\^`{-\u007f][^\u0000-/:-@\[-\^`{-\u007f]*$",
                "not": {"enum": [*keyword.kwlist]},
            },
            "The function that runs, called with the inputs as keyword arguments.",
        ),
        "environment": forms.only(
            "project", "Run in the project's own `.venv` instead of an environment of the tool."
        ),
    },
    required=("path", "entrypoint"),
    more=not_inputs,
)
