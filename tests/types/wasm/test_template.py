"""What a new rust_function begins with is its own function and the glue beside it."""

from vespe.tools.building import RUST_GLUE
from vespe.types.wasm.template import rust_files


def test_the_files_are_those_of_the_tool_and_of_its_function() -> None:
    files = rust_files("count-it", "count_it")
    assert files.keys() == {"tool.rs", RUST_GLUE}
    assert "fn count_it" in files["tool.rs"] and "TOOL_" not in files["tool.rs"]
