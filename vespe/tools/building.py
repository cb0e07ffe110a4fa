"""Compile a tool's source to the module that runs: Rust by rustc or cargo, C by zig or the compiler
that is given.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from vespe.documents import strict_json
from vespe.errors import Refused, StorageError, ToolExecutionError, UsageError
from vespe.files import atomic
from vespe.lazy import shutil, tempfile
from vespe.models import JsonObject, Tool
from vespe.processes import process
from vespe.records import dataclass
from vespe.tools import built

RUST_GLUE: Final = "vespe.rs"
"""The file beside a tool's own in Rust: JSON, and the way in and out."""
_TARGETS: Final = ("wasm32-wasip1", "wasm32-wasi")
"""The target's name in newer and in older toolchains:
https://doc.rust-lang.org/rustc/platform-support/wasm32-wasip1.html.
"""
_TIMEOUT_S: Final = 600.0
_RUST: Final = (
    "-C",
    "opt-level=s",
    "-C",
    "codegen-units=1",
    "-C",
    "panic=abort",
    "-C",
    "strip=symbols",
)
_PROFILE: Final = {"OPT_LEVEL": "s", "CODEGEN_UNITS": "1", "PANIC": "abort", "STRIP": "symbols"}
"""The same for cargo, where the Cargo.toml has no `[profile.release]` of its own."""
_MANIFEST: Final = "Cargo.toml"
_LOCK: Final = "Cargo.lock"
_C: Final = ("--target=wasm32-wasi", "-Os", "-Wl,--strip-all")
_OUT: Final = "out.wasm"
_DEBIAN: Final = "on Debian `apt-get install rustc libstd-rust-dev-wasm32 lld-14 wasi-libc`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A module as it was compiled, its path in the tool's directory, what build.json says of it,
    and what the compiler said.
    """

    path: str
    module: bytes
    record: JsonObject
    said: str
    lock: bytes | None = None
    """The Cargo.lock that cargo made, or made anew."""


def build(
    tool: Tool, *, compiler: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> Built:
    """Compile a tool's source in a temporary directory, and write nothing else; `compiler` are the
    words before ours.

    Raises UsageError for a tool that has no source, Refused where there is no compiler (the hint
    says what to install), ToolExecutionError with what the compiler said.
    """
    details: dict[str, Any] = tool.document.get("implementation_details", {})
    source, directory = built.source_of(details), tool.directory or ""
    if source is None:
        raise UsageError(
            f"{tool.name} has no source that is compiled",
            hint="tools of type rust_function have one, and tools of type wasm with `source`",
        )
    sources = built.read_sources(directory, details)
    if source not in sources:
        raise UsageError(f"{tool.name} names the source {source}, and there is no such file")
    env = process.child_environment(os.environ if environ is None else environ, {})
    make = _LANGUAGES[built.language_of(details)]
    with tempfile.TemporaryDirectory(prefix="vespe-build-") as aside:
        for path, data in sources.items():
            _write(os.path.join(aside, path), data)
        made, version, said = make(
            _Compiling(aside, env, tuple(compiler), source, tool.name), details
        )
        module = atomic.read_bytes(os.path.join(aside, made), limit=built.MAX_MODULE_BYTES)
        lock = _lock(aside) if _MANIFEST in sources else None
    record = built.record_of(
        details, sources | ({_LOCK: lock} if lock else {}), module, compiler=version
    )
    return Built(path=built.module_of(details), module=module, record=record, said=said, lock=lock)


def _lock(directory: str) -> bytes | None:
    path = os.path.join(directory, _LOCK)
    return atomic.read_bytes(path, limit=built.MAX_MODULE_BYTES) if os.path.isfile(path) else None


@dataclass(frozen=True, slots=True)
class _Compiling:
    """One build: where, with which environment and compiler, of which source, for which tool."""

    directory: str
    env: Mapping[str, str]
    compiler: tuple[str, ...]
    source: str
    name: str

    def run(self, argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> str:
        """Run a program to its end, and return what it wrote; raises ToolExecutionError where it
        ends with an error.
        """
        command = process.Command(
            argv=argv, cwd=self.directory, env={**self.env, **(env or {})}, timeout_s=_TIMEOUT_S
        )
        done = process.run(command)
        said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        if done.returncode:
            raise ToolExecutionError(
                f"{self.source} of {self.name} does not compile:\n{said[-8000:]}",
                details={"command": list(argv)},
            )
        return said

    def version(self, *program: str) -> str:
        """Return the first line of what a compiler says of its version."""
        return self.run((*program, "--version")).partition("\n")[0]


def _rust(job: _Compiling, details: Mapping[str, Any]) -> tuple[str, str, str]:
    """Compile a function of Rust, with a `main` that calls it; returns where the module is, the
    compiler, and what that said.
    """
    where, name = os.path.split(job.source)
    main = os.path.join(where, "main.rs")
    if os.path.lexists(os.path.join(job.directory, main)):
        raise UsageError(f"{main} is used by the build: give your file another name")
    if not os.path.lexists(os.path.join(job.directory, where, RUST_GLUE)):
        raise UsageError(
            f"there is no {os.path.join(where, RUST_GLUE)} beside {job.source}",
            hint="copy it from a tool that `tool create` made",
        )
    program = (
        f'mod vespe;\n#[path = "{name}"]\nmod tool;\n\nfn main() {{\n    '
        f"vespe::run(tool::{details['entrypoint']})\n}}\n"
    )
    _write(os.path.join(job.directory, main), program.encode("utf-8"))
    rustc, target = (
        (job.compiler, next(_targets(job, job.compiler[0]), _TARGETS[0]))
        if job.compiler
        else _rustc(job)
    )
    version = f"{job.version(rustc[0])}, {target}"
    if os.path.lexists(os.path.join(job.directory, _MANIFEST)):
        return _cargo(job, rustc, target), version, ""
    return (
        _OUT,
        version,
        job.run((*rustc, "--target", target, "--edition", "2021", *_RUST, main, "-o", _OUT)),
    )


def _cargo(job: _Compiling, rustc: Sequence[str], target: str) -> str:
    """Compile the package that a Cargo.toml describes, by the cargo beside rustc; returns where its
    module is.
    """
    cargo = shutil.which(os.path.join(os.path.dirname(rustc[0]), "cargo"), path=job.env.get("PATH"))
    if cargo is None:
        raise Refused(
            f"{job.name} has a {_MANIFEST}, and there is no cargo beside {rustc[0]}",
            hint="on Debian `apt-get install cargo`",
        )
    flags = " ".join((*rustc[1:], f"--remap-path-prefix={os.path.realpath(job.directory)}=."))
    with open(os.path.join(job.directory, _MANIFEST), encoding="utf-8", errors="replace") as file:
        profile = (
            {}
            if "[profile.release]" in file.read()
            else {f"CARGO_PROFILE_RELEASE_{key}": value for key, value in _PROFILE.items()}
        )
    argv = (cargo, "build", "--release", "--target", target, "--target-dir", "out")
    job.run(argv, env={"RUSTC": rustc[0], "RUSTFLAGS": flags, **profile})
    made = os.path.join("out", target, "release")
    modules = [
        name for name in os.listdir(os.path.join(job.directory, made)) if name.endswith(".wasm")
    ]
    if len(modules) != 1:
        raise UsageError(
            f"the {_MANIFEST} of {job.name} makes {len(modules)} modules, but a tool needs exactly "
            "one"
        )
    return os.path.join(made, modules[0])


def _rustc(job: _Compiling) -> tuple[tuple[str, ...], str]:
    """Return the first rustc on PATH that compiles to WebAssembly, and its name for that."""
    found = list(_programs("rustc", job.env))
    for program in found:
        for target in _targets(job, program):
            return (program,), target
    if found:
        hint = f"`rustup target add {_TARGETS[0]}`, or {_DEBIAN}"
        raise Refused(
            f"{found[0]} does not compile to WebAssembly: "
            f"it has neither the target {' nor '.join(_TARGETS)}",
            hint=hint,
        )
    hint = f"{_DEBIAN}; elsewhere https://rustup.rs and `rustup target add {_TARGETS[0]}`"
    raise Refused(
        "there is no Rust compiler here; tools that are already compiled run without one", hint=hint
    )


def _targets(job: _Compiling, rustc: str) -> Iterator[str]:
    """Find what of WebAssembly a rustc compiles to; nothing where it is rustup's and no toolchain
    is chosen.
    """
    with contextlib.suppress(ToolExecutionError):
        library = os.path.join(job.run((rustc, "--print", "sysroot")), "lib", "rustlib")
        yield from (
            target for target in _TARGETS if os.path.isdir(os.path.join(library, target, "lib"))
        )


def _programs(name: str, env: Mapping[str, str]) -> Iterator[str]:
    for directory in env.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(directory, name)
        if os.path.isabs(path) and os.access(path, os.X_OK):
            yield path


def _c(job: _Compiling, details: Mapping[str, Any]) -> tuple[str, str, str]:
    """Compile a program in C."""
    compiler = job.compiler or _c_compiler(job)
    return _OUT, job.version(*compiler), job.run((*compiler, *_C, job.source, "-o", _OUT))


def _c_compiler(job: _Compiling) -> tuple[str, ...]:
    if zig := shutil.which("zig", path=job.env.get("PATH")):
        return zig, "cc"
    try:
        job.run((sys.executable, "-P", "-m", "ziglang", "version"))
    except ToolExecutionError:
        hint = (
            "pip install ziglang, or name one that has a WASI library: "
            '`--compiler "clang --sysroot=/opt/wasi"`'
        )
        raise Refused(
            "there is no C compiler for WebAssembly here; tools that are already compiled run "
            "without one",
            hint=hint,
        ) from None
    return sys.executable, "-P", "-m", "ziglang", "cc"


_LANGUAGES: Final = {"rust": _rust, "c": _c}


def write(tool: Tool, made: Built) -> None:
    """Put a module and the record of its build into the tool's directory; raises StorageError."""
    directory = tool.directory or ""
    if made.lock:
        atomic.write_atomic(os.path.join(directory, _LOCK), made.lock)
    atomic.write_atomic(os.path.join(directory, made.path), made.module)
    atomic.write_atomic(os.path.join(directory, built.RECORD), strict_json.dump_json(made.record))


def _write(path: str, data: bytes) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        raise StorageError("write", path, error) from error
