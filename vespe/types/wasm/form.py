"""What `implementation_details` of a wasm, and of a rust_function, may be."""

from typing import Any, Final

from vespe.lazy import pattern
from vespe.schemas import forms
from vespe.tools.implementations import not_inputs

_RUST_NAME: Final = pattern(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and _RUST_NAME.fullmatch(value) is not None


WASM: Final = forms.DetailsForm(
    keys={
        "path": forms.own_file(
            "a .wasm file inside the tool's directory",
            ends=".wasm",
            description="A WASI command that reads its arguments as JSON from stdin and writes "
            "its result as JSON to stdout.",
        ),
        "source": forms.own_file(
            "a source file inside the tool's directory",
            description="The C file that `vespe tool build` compiles to the module.",
        ),
    },
    required=("path",),
    more=not_inputs,
)
RUST_FUNCTION: Final = forms.DetailsForm(
    keys={
        "path": forms.own_file(
            "a .rs file inside the tool's directory",
            ends=".rs",
            description="The source file, which `vespe tool build` compiles to tool.wasm.",
        ),
        "entrypoint": forms.kind(
            "the name of the function that runs",
            _is_name,
            {"type": "string", "pattern": f"^{_RUST_NAME.pattern}$"},
            "The function that runs.",
        ),
    },
    required=("path", "entrypoint"),
    more=not_inputs,
)
