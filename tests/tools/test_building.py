"""Compiling a tool's source: what a compiler is given, what it says, and the sentence where there
is none.
"""

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.compilers import needs_rust, stand_in
from vespe.errors import Refused, ToolExecutionError, UsageError
from vespe.models import Implementation, Tool
from vespe.tools import building, built
from vespe.types.wasm.template import rust_files


def tool(directory: Path, **details: Any) -> Tool:
    said = {"type": "rust_function", "path": "src/tool.rs", "entrypoint": "counts"} | details
    for name, text in rust_files("counts", "counts").items():
        (directory / "src").mkdir(exist_ok=True)
        (directory / "src" / name).write_text(text, encoding="utf-8")
    (directory / "x.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    document = {"implementation_details": said}
    return Tool(
        uid="t",
        name="counts",
        description="",
        input_schema={},
        directory=str(directory),
        document=document,
        implementation=Implementation(type=said["type"]),
    )


def files(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def test_a_build_writes_nothing_before_it_is_told_to(tmp_path: Path) -> None:
    compiler, one = stand_in(tmp_path), tool(tmp_path)
    before = files(tmp_path)
    made = building.build(one, compiler=[compiler])
    assert files(tmp_path) == before and b"fn main() {\n    vespe::run(tool::counts)" in made.module
    building.write(one, made)
    assert files(tmp_path) - before == {"tool.wasm", "build.json"}
    assert list(built.stale(str(tmp_path), one.document["implementation_details"])) == []


def test_a_program_in_c_goes_through_the_compiler_as_given(tmp_path: Path) -> None:
    made = building.build(
        tool(tmp_path, type="wasm", path="bin/x.wasm", source="x.c"),
        compiler=[stand_in(tmp_path), "--sysroot=/w"],
    )
    assert (made.path, made.record["compiler"], list(made.record["sources"])) == (
        "bin/x.wasm",
        "standin 1.0",
        ["x.c"],
    )


@pytest.mark.parametrize(
    ("path", "text", "kind", "said"),
    [
        (
            "src/tool.rs",
            "broken",
            ToolExecutionError,
            "src/tool.rs of counts does not compile:\nsource:1: error: broken",
        ),
        ("src/main.rs", "", UsageError, "src/main.rs is used by the build"),
        ("src/vespe.rs", None, UsageError, "there is no src/vespe.rs beside src/tool.rs"),
        (
            "src/tool.rs",
            None,
            UsageError,
            "names the source src/tool.rs, and there is no such file",
        ),
    ],
)
def test_what_cannot_be_compiled_is_a_sentence(
    tmp_path: Path, path: str, text: str | None, kind: type[Exception], said: str
) -> None:
    compiler, one = stand_in(tmp_path), tool(tmp_path)
    (tmp_path / path).write_text(text, encoding="utf-8") if text is not None else (
        tmp_path / path
    ).unlink()
    with pytest.raises(kind) as caught:
        building.build(one, compiler=[compiler])
    assert said in str(caught.value)


def test_a_tool_without_a_source_has_nothing_to_compile(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no source"):
        building.build(tool(tmp_path, type="wasm", path="x.wasm"))


NO_ZIG = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is not None, reason="this Python has a C compiler: ziglang"
)


@pytest.mark.parametrize(
    "details", [{}, pytest.param({"type": "wasm", "path": "x.wasm", "source": "x.c"}, marks=NO_ZIG)]
)
def test_where_there_is_no_compiler_the_hint_says_what_to_install(
    tmp_path: Path, details: Any
) -> None:
    with pytest.raises(Refused, match="there is no") as caught:
        building.build(tool(tmp_path, **details), environ={"PATH": str(tmp_path)})
    assert "install" in caught.value.hint


def test_a_rustc_without_the_target_is_passed_over_and_told_of(tmp_path: Path) -> None:
    for name, text in (("a", "#!/bin/sh\nexit 1\n"), ("b", f"#!/bin/sh\necho {tmp_path}\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rustc").write_text(text, encoding="utf-8")
        (tmp_path / name / "rustc").chmod(0o755)
    with pytest.raises(Refused, match="does not compile to WebAssembly") as caught:
        building.build(tool(tmp_path), environ={"PATH": f"{tmp_path}/a:{tmp_path}/b"})
    assert "rustup target add wasm32-wasip1" in caught.value.hint


CARGO = """[package]\nname = "counts"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ntwice = { path = "twice" }\n"""


@needs_rust
@pytest.mark.skipif(
    not os.access("/usr/bin/cargo", os.X_OK), reason="no cargo beside the system's rustc"
)
def test_a_package_of_cargo_is_compiled_with_what_it_depends_on_and_its_lock_is_kept(
    tmp_path: Path,
) -> None:
    one, library = tool(tmp_path), tmp_path / "twice" / "src"
    library.mkdir(parents=True)
    (library / "lib.rs").write_text("pub fn twice(n: i64) -> i64 { n * 2 }\n", encoding="utf-8")
    (library.parent / "Cargo.toml").write_text(
        CARGO.partition("[dep")[0].replace("counts", "twice"), encoding="utf-8"
    )
    (tmp_path / "Cargo.toml").write_text(CARGO, encoding="utf-8")
    made = building.build(
        one, environ=os.environ | {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    )
    assert made.module.startswith(b"\0asm") and len(made.module) < 400_000  # it has no symbols
    building.write(one, made)
    assert 'name = "twice"' in (tmp_path / "Cargo.lock").read_text(encoding="utf-8")
    assert list(built.stale(str(tmp_path), one.document["implementation_details"])) == []


@pytest.mark.parametrize("name", ["wasm32-wasi", "wasm32-wasip1"])
def test_a_compiler_that_is_named_compiles_to_the_target_that_it_has(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "lib" / "rustlib" / name / "lib").mkdir(parents=True)
    compiler = Path(stand_in(tmp_path))
    sysroot = f'if "sysroot" in sys.argv: sys.exit(print({str(tmp_path)!r}))\n'
    compiler.write_text(
        compiler.read_text(encoding="utf-8").replace("if ", sysroot + "if ", 1), encoding="utf-8"
    )
    made = building.build(tool(tmp_path), compiler=[str(compiler)])
    assert made.record["compiler"] == f"standin 1.0, {name}"


def test_a_package_without_a_cargo_says_so(tmp_path: Path) -> None:
    compiler, one = stand_in(tmp_path), tool(tmp_path)
    (tmp_path / "Cargo.toml").write_text(CARGO, encoding="utf-8")
    with pytest.raises(Refused, match="no cargo beside"):
        building.build(one, compiler=[compiler])


@needs_rust
def test_the_template_compiles_to_the_same_bytes_twice_wherever_it_is(tmp_path: Path) -> None:
    made = []
    for name in ("one", "another"):
        (tmp_path / name).mkdir()
        made.append(building.build(tool(tmp_path / name), environ=os.environ).module)
    assert (
        made[0] == made[1]
        and made[0].startswith(b"\0asm")
        and made[0].count(str(tmp_path).encode()) == 0
    )
