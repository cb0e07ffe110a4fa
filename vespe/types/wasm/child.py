"""Runs modules of WebAssembly in an interpreter of its own, one call at a time, each in a fresh
instance.
"""

# workers.py sends this, compiled, to `python -I -B -X utf8`; it imports nothing of Vespe. A module
# reads its arguments from memory and writes its result into a file there. wasmtime's
# `stdout_custom` panics when the interpreter ends, and a pipe would need a thread.

import contextlib
import ctypes
import gc
import hashlib
import hmac
import json
import marshal
import os
import resource
import signal
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

    import wasmtime

MAX_STDOUT_FILE = 64 * 1024 * 1024
"""What a module may write at most before it is looked at; it is stopped at the first look past its
cap.
"""
TICK_S = 0.02
"""How often a running module is looked at. The deadline itself is a tick of its own."""
TABLE_ELEMENTS = 100_000
MAX_CACHED = 128


class Broken(Exception):
    """The module cannot run at all; the text says why."""


def main(message: "dict[str, Any]") -> "NoReturn":
    """Answer requests until stdin ends: the last argument is the descriptor for answers."""
    result = int(sys.argv[-1])
    os.set_inheritable(result, False)
    try:
        runner = Runner(message["cache"], message["key"])
    except ImportError:
        runner = None
    gc.freeze()  # what was imported stays: a collection need not look at it
    while True:
        request = marshal.loads(take(int.from_bytes(take(8), "big")))
        head, body = runner.answer(request) if runner else ({"kind": "missing"}, b"")
        answer = f"{len(body)} {json.dumps(head)}\n".encode() + body
        view = memoryview(answer)
        while view:
            view = view[os.write(result, view) :]
        if runner:
            runner.tidy()


def take(size: int) -> bytes:
    """Read so many bytes of stdin; ends this process where they do not come."""
    parts = []
    while size:
        more = os.read(0, min(size, 1 << 20))
        if not more:
            os._exit(0)
        parts.append(more)
        size -= len(more)
    return b"".join(parts)


class Runner:
    """The engine, the modules that it knows, and the file for what they write."""

    def __init__(self, cache: "str | None", key: bytes) -> None:
        global wasmtime
        import wasmtime

        config = wasmtime.Config()
        config.epoch_interruption = True
        config.wasm_threads = False
        self.engine = wasmtime.Engine(config)
        self.linker = wasmtime.Linker(self.engine)
        self.linker.define_wasi()
        self.modules: dict[str, wasmtime.InstancePre] = {}
        self.cache = Cache(cache, key) if cache else None
        self.binding = Binding()
        self.stdout, self.stdout_path = file_in_memory("stdout")
        self.watch = Watch(self.engine, self.stdout)
        self.used: wasmtime.Store | None = None

    def answer(self, request: "dict[str, Any]") -> "tuple[dict[str, Any], bytes]":
        """Run one call; returns what became of it, and what the module wrote to its stdout."""
        try:
            module = self.modules.get(request["module"]) or self.load(
                request["module"], request["code"]
            )
            head = self.run(module, request)
        except Broken as broken:
            return {"kind": "broken", "message": str(broken)}, b""
        size = os.fstat(self.stdout).st_size
        if size > request["cap"]:
            head = {"kind": "large", "bytes": size}
        return head, os.pread(self.stdout, min(size, request["cap"]), 0)

    def tidy(self) -> None:
        """Leave nothing of a call, once it is answered: nobody waits for that."""
        self.used = None
        os.ftruncate(self.stdout, 0)

    def load(self, digest: str, code: bytes) -> "wasmtime.InstancePre":
        """Compile a module, or take what was compiled of it before."""
        module = self.cache.load(self.engine, digest) if self.cache else None
        if module is None:
            try:
                module = wasmtime.Module(self.engine, code)
            except wasmtime.WasmtimeError as error:
                raise Broken(f"cannot be compiled: {first_lines(error)}") from None
            if self.cache:
                self.cache.store(digest, module)
        starts = [one.type for one in module.exports if one.name == "_start"]
        if (
            not starts
            or not isinstance(starts[0], wasmtime.FuncType)
            or starts[0].params
            or starts[0].results
        ):
            raise Broken(
                "exports no function `_start` without parameters: it is not a WASI command"
            )
        try:
            self.modules[digest] = self.linker.instantiate_pre(module)
        except wasmtime.WasmtimeError as error:
            raise Broken(
                f"imports something that Vespe does not provide: {first_lines(error)}"
            ) from None
        return self.modules[digest]

    def run(self, module: "wasmtime.InstancePre", request: "dict[str, Any]") -> "dict[str, Any]":
        """Run a module in a fresh store; what it wrote is in the file afterwards."""
        limit = resource.RLIM_INFINITY if request["directories"] else MAX_STDOUT_FILE
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        self.watch.begin(request["timeout_s"], request["cap"])
        try:
            store = self.used = self.store(request)
            self.binding.start(store, module.instantiate(store))
        except wasmtime.ExitTrap as ended:
            return {"kind": "ended", "status": ended.code}
        except wasmtime.Trap as trap:
            return {"kind": self.watch.why or "trap", **told(trap)}
        except wasmtime.WasmtimeError as error:
            return {"kind": self.watch.why or "trap", "message": first_lines(error)}
        finally:
            self.watch.end()
        return {"kind": "ended", "status": 0}

    def store(self, request: "dict[str, Any]") -> "wasmtime.Store":
        wasi = wasmtime.WasiConfig()
        wasi.argv = [request["name"]]
        self.binding.give_stdin(wasi, request["stdin"])
        wasi.stdout_file = self.stdout_path
        wasi.inherit_stderr()
        for host, guest, mutable in request["directories"]:
            with held(host) as path:
                wasi.preopen_dir(path, guest, mutable)
        store = wasmtime.Store(self.engine)
        store.set_wasi(wasi)
        store.set_limits(
            memory_size=request["memory"],
            table_elements=TABLE_ELEMENTS,
            instances=1,
            tables=16,
            memories=1,
        )
        store.set_epoch_deadline(1)
        return store


@contextlib.contextmanager
def held(path: str) -> "Iterator[str]":
    """Return a name for the directory that a real path is of: no link counts that was put on the
    way since it was resolved.
    """
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
    here = os.open("/", flags)
    try:
        for word in path.split("/")[1:]:
            there = os.open(word, flags, dir_fd=here)
            os.close(here)
            here = there
        by_descriptor = f"/proc/self/fd/{here}"
        yield by_descriptor if os.path.isdir(by_descriptor) else path
    except OSError as error:
        raise wasmtime.WasmtimeError(f"{path} cannot be opened: {error.strerror}") from None
    finally:
        os.close(here)


class Binding:
    """What a call does often, by wasmtime's C API itself: less than half the time of its Python
    classes.

    wasmtime promises the functions, and none of its names for them here: where one is another, the
    public way is taken. Stdin as bytes has no public name at all: `WasiConfig` takes a file alone
    (https://github.com/bytecodealliance/wasmtime-py/blob/main/wasmtime/_wasi.py).
    """

    def __init__(self) -> None:
        self.given: tuple[int, str] | None = None
        try:
            from wasmtime import _ffi, _func

            self.to_bytes, self.set_stdin, self.extern = (
                _ffi.bytes_to_capi,
                _ffi.wasi_config_set_stdin_bytes,
                _ffi.wasmtime_extern_t,
            )
            self.export, self.call, self.enter = (
                _ffi.wasmtime_instance_export_get,
                _ffi.wasmtime_func_call,
                _func.enter_wasm,
            )
        except (ImportError, AttributeError):
            self.given = file_in_memory("stdin")

    def give_stdin(self, wasi: "wasmtime.WasiConfig", data: bytes) -> None:
        """Hand over the arguments: as bytes, since a file is read by threads of wasmtime's, at the
        price of all else together.
        """
        if self.given is None:
            self.set_stdin(wasi.ptr(), ctypes.byref(self.to_bytes(data)))
            return
        os.ftruncate(self.given[0], 0)
        os.pwrite(self.given[0], data, 0)
        wasi.stdin_file = self.given[1]

    def start(self, store: "wasmtime.Store", instance: "wasmtime.Instance") -> None:
        """Run `_start`, which is a function without parameters, as `load` has seen; raises as
        wasmtime does.
        """
        if self.given is not None:
            run: Any = instance.exports(store)["_start"]
            run(store)
            return
        context, found = store._context(), self.extern()
        self.export(context, ctypes.byref(instance._instance), b"_start", 6, ctypes.byref(found))
        with self.enter(store) as trap:
            if error := self.call(context, ctypes.byref(found.of.func), None, 0, None, 0, trap):
                raise wasmtime.WasmtimeError._from_ptr(error)


class Watch:
    """Stops a module at its deadline, and soon after it wrote too much. Between calls, and in short
    ones, nothing runs.
    """

    def __init__(self, engine: "wasmtime.Engine", stdout: int) -> None:
        self.engine, self.stdout = engine, stdout
        self.lock = threading.Lock()
        self.until: float | None = None
        self.cap = 0
        self.why = ""
        # Blocked everywhere, the alarm is the watching thread's: the main one is inside the module,
        # where no handler runs.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        threading.Thread(target=self.look, daemon=True).start()

    def begin(self, timeout_s: float, cap: int) -> None:
        with self.lock:
            self.until, self.cap, self.why = time.monotonic() + timeout_s, cap, ""
        signal.setitimer(signal.ITIMER_REAL, max(min(TICK_S, timeout_s), 1e-6), TICK_S)

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        with self.lock:
            self.until = None

    def look(self) -> None:
        while True:
            signal.sigwait({signal.SIGALRM})
            with self.lock:
                if self.until is None:
                    continue
                if time.monotonic() >= self.until:
                    self.why = "late"
                elif os.fstat(self.stdout).st_size > self.cap:
                    self.why = "large"
                if self.why:
                    self.engine.increment_epoch()


class Cache:
    """What was compiled before. To load it is to run it: only what this user's own key has signed
    is believed.
    """

    def __init__(self, directory: str, key: bytes) -> None:
        from importlib.metadata import version

        uname = os.uname()
        about = [version("wasmtime"), uname.sysname, uname.machine, processor()]
        self.directory, self.key = directory, key
        self.about = hashlib.sha256(repr(about).encode()).hexdigest()[:16]

    def load(self, engine: "wasmtime.Engine", digest: str) -> "wasmtime.Module | None":
        try:
            # A named pipe there must not make this wait.
            with open(
                self.path(digest), "rb", opener=lambda p, f: os.open(p, f | os.O_NONBLOCK)
            ) as file:
                signature, code = file.read(32), file.read()
            if hmac.compare_digest(signature, self.signature(digest, code)):
                return wasmtime.Module.deserialize(engine, code)
        except (OSError, wasmtime.WasmtimeError):
            pass
        return None

    def store(self, digest: str, module: "wasmtime.Module") -> None:
        code = bytes(module.serialize())
        new = f"{self.path(digest)}.{os.getpid()}.tmp"
        try:
            resource.setrlimit(
                resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            )
            with open(
                os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb"
            ) as file:
                file.write(self.signature(digest, code) + code)
            os.replace(new, self.path(digest))
            self.prune()
        except OSError:
            return

    def path(self, digest: str) -> str:
        return os.path.join(self.directory, f"{digest[:32]}-{self.about}.cwasm")

    def signature(self, digest: str, code: bytes) -> bytes:
        return hmac.digest(self.key, f"{digest} {self.about} ".encode() + code, "sha256")

    def prune(self) -> None:
        paths = [os.path.join(self.directory, name) for name in os.listdir(self.directory)]
        for path in sorted(paths, key=lambda path: os.stat(path).st_mtime_ns)[:-MAX_CACHED]:
            os.unlink(path)


def processor() -> str:
    """Return what the machine says its processor can do: compiled code is for one that can as
    much.
    """
    try:
        with open("/proc/cpuinfo", "rb") as file:
            return next(
                (
                    line.decode("ascii", "replace")
                    for line in file
                    if line.startswith((b"flags", b"Features"))
                ),
                "",
            )
    except OSError:
        return ""


def file_in_memory(name: str) -> "tuple[int, str]":
    """Return the descriptor of a new file, and a path that opens it; on disk where the system has
    none in memory.
    """
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create(name)
        return descriptor, f"/proc/self/fd/{descriptor}"
    import tempfile

    return tempfile.mkstemp(prefix="vespe-")


def told(trap: "wasmtime.Trap") -> "dict[str, Any]":
    """Say why a module was stopped, and in which of its functions, the innermost first."""
    said = str(trap.message).strip().splitlines()
    reason = next((line.strip() for line in said if "wasm trap:" in line), said[-1] if said else "")
    names = [frame.func_name or f"function {frame.func_index}" for frame in trap.frames[:8]]
    return {"message": reason.partition("wasm trap:")[2].strip() or reason, "frames": names}


def first_lines(error: Exception) -> str:
    """Return an error's text as one line."""
    return " ".join(str(error).split())[:400]
