"""Runs one function of a tool's script in an interpreter of its own, and answers with its result or
with a sentence.
"""

# python_script.py sends this, compiled, to `python -I -B -X utf8`; it imports nothing of Vespe, and
# of the library only what a tool's own types make necessary. What the types are made of is
# values.py, which comes along as code.

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Any, NoReturn

MAX_TEXT = 4000
MAX_TOUCHED = 256
REHEARSALS = 16
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Variables by which libraries are kept from starting threads when they are imported."""


class Failed(Exception):
    """What became of the call instead of a result: the answer's error."""

    def __init__(self, kind: str, message: str, **fields: "Any") -> None:
        super().__init__(message)
        self.answer = {"kind": kind, "message": message[:MAX_TEXT], **fields}


class NeedsInput(Exception):
    """A tool asks a person, and there is no answer to be had."""

    code = "needs_input"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ToolError(Exception):
    """A tool asks for what cannot be asked."""

    code = "tool_error"


class Declined(Exception):
    """A person does not answer what a tool asks: `action` is decline or cancel."""

    code = "declined"

    def __init__(self, tool: str, action: str) -> None:
        did = "declined to answer" if action == "decline" else "did not answer"
        super().__init__(f"the user {did} the question of {tool!r}")
        self.tool, self.action = tool, action


# ---- the call


def rehearse(values: "Any", times: int = REHEARSALS) -> None:
    """Make calls that do nothing, in a process that calls are forks of: what Python learns by that,
    no fork has to learn again.

    Its specialised code and its caches are written once, in place of a copy of their pages in each
    call: https://docs.python.org/3/whatsnew/3.11.html#whatsnew311-pep659. Nothing else of it is
    left.
    """
    import atexit  # noqa: F401  # which each call needs at its end

    message = {
        "directory": "/",
        "path": "/rehearsal.py",
        "source": "def made(n: int): return {'n': n}",
        "entrypoint": "made",
    }
    modules, path = set(sys.modules), list(sys.path)
    for _ in range(times):
        call(message | {"inputs": {"n": 1}, "args": {}}, values)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            del sys.modules[name]


def main(told: "list[Any]") -> "NoReturn":
    """Run the call that the message describes, answer on the result's descriptor, and end this
    process.

    `told` is the message, and values.py: its code, or the module where that is made already; for a
    process that forks calls, the code of the sandbox's enter.py and of zygote.py too.
    """
    message, values, *more = told
    if "forks" in message:
        Forks(message, _made(values), *map(_made, more)).serve()
    if "persistent" in message:
        serve(_made(values))
    result = int(sys.argv[-1])
    os.set_inheritable(result, False)
    identity, here = _identity(result), os.getpid()
    _quieten()
    sys.argv = [message["path"]]
    _install_ask(message)
    touched: list[tuple[str, str]] = []
    if message["watched"]:
        _watch(touched, message["directory"])
    try:
        answer = call(message, _made(values))
    except Failed as failed:
        import json

        answer = json.dumps({"error": failed.answer}, ensure_ascii=False)
    if touched:
        import json

        # Before the last brace: an answer is an object.
        answer = f'{answer[:-1]}, "touched": {json.dumps(touched)}}}'
    if os.getpid() != here:
        os._exit(0)  # the tool has forked, and this is not the process that was asked
    if _identity(result) != identity:
        os._exit(0)  # the tool has closed the descriptor, or something else stands there now
    _write(result, answer.encode("utf-8", "replace"))
    _finish()


_CALL: "dict[str, Any]" = {}
"""The message of the call that runs: a process that is kept has one after another."""


def _install_ask(message: "dict[str, Any]") -> None:
    """Let the tool `import vespe_ask`, and ask a person by the descriptors that the message
    names.
    """
    _CALL.update(message)
    if "vespe_ask" in sys.modules:
        return
    import _thread

    lock = _thread.allocate_lock()

    def ask(
        question: str, schema: "dict[str, Any] | None" = None, *, name: "str | None" = None
    ) -> "dict[str, Any]":
        """Ask a person and return the answer, an object that fits `schema`; without one the person
        only agrees. Raises Declined, and NeedsInput where nobody can be asked.
        """
        import json

        if not _CALL["ask"]:
            raise NeedsInput("the tool asks the user a question, but there is no one to ask here")
        asked = {"ask": 1, "question": question, "schema": schema, "name": name}
        asked = {key: value for key, value in asked.items() if value is not None}
        line = json.dumps(asked, ensure_ascii=False).encode("utf-8", "replace")
        reader, writer = map(int, _CALL["ask"].split(","))
        with lock:
            _write(writer, line + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                more = os.read(reader, 65536)
                if not more:
                    raise NeedsInput(
                        "the call has ended, so the tool's question cannot be answered"
                    )
                answer += more
        said = json.loads(answer)
        if error := said.get("error"):
            own = error["code"] == ToolError.code
            raise (
                ToolError(error["message"])
                if own
                else NeedsInput(error["message"], error.get("hint", ""))
            )
        if said["action"] != "accept":
            raise Declined(_CALL["name"], said["action"])
        return dict(said["content"])

    module: Any = type(sys)("vespe_ask", "Ask a person from within a tool: `ask`.")
    module.ask, module.Declined, module.NeedsInput = ask, Declined, NeedsInput
    module.ToolError = ToolError
    sys.modules["vespe_ask"] = module


FILE_EVENTS = {
    "open": "",
    "os.listdir": "read",
    "os.scandir": "read",
    "os.mkdir": "name",
    "os.rmdir": "name",
    "os.remove": "name",
    "os.truncate": "write",
    "os.chmod": "write",
    "os.chown": "write",
    "os.utime": "write",
    "os.rename": "name",
    "os.link": "name",
    "os.symlink": "",
    "shutil.copyfile": "",
}
"""What Python tells its audit hooks of files, and what is done to the first of its arguments:
`name` makes, moves or removes a name, and follows no link that stands there. Of a symbolic link the
first argument is only where it is to lead.
"""
SECOND = {"os.rename": "name", "os.link": "name", "os.symlink": "name", "shutil.copyfile": "write"}
"""What is done to the second argument."""


def _watch(touched: "list[tuple[str, str]]", directory: str) -> None:
    """Take note of what the tool touches: (`read`, `write`, `name`, `sockets`, `network` or
    `programs`, path or host). It runs on whether or not it may.

    See https://docs.python.org/3/library/audit_events.html. What an extension in C does is not
    seen.
    """
    own = (sys.prefix, sys.base_prefix, directory)

    def note(kind: str, what: "Any") -> None:
        if isinstance(what, (str, bytes)) or hasattr(what, "__fspath__"):
            what = os.fsdecode(what)
            what = (
                what
                if kind == "network"
                else os.path.abspath(what)
                if os.sep in what or kind != "programs"
                else what
            )
            if (
                (kind, what) not in touched
                and len(touched) < MAX_TOUCHED
                # A Python of the system has the system's programs for its own.
                and (kind == "programs" or not what.startswith(own))
            ):
                touched.append((kind, what))

    def hook(event: str, args: "tuple[Any, ...]") -> None:
        if event in FILE_EVENTS:
            kind = FILE_EVENTS[event]
            if event == "open":
                writes = (
                    args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
                    if isinstance(args[2], int)
                    else 0
                )
                kind = "write" if writes else "read"
            if event != "os.symlink":
                note(kind or "read", args[0])
            if event in SECOND:
                note(SECOND[event], args[1])
        elif event == "sqlite3.connect":
            if database := _database(args[0]):
                note(*database)
        elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            address = args[1]
            if isinstance(address, tuple) and len(address) > 1:
                note("network", f"{address[0]}:{address[1]}")
            else:
                note("sockets", address)
        elif event == "socket.getaddrinfo":
            note("network", f"{os.fsdecode(args[0] or '')}:{args[1] or 0}")
        elif event in ("subprocess.Popen", "os.posix_spawn", "os.exec"):
            note("programs", args[0])

    sys.addaudithook(hook)


def _database(name: "Any") -> "tuple[str, str] | None":
    """Return how SQLite opens a database and its file; None for one that is in memory.

    The event does not tell whether the name is a URI (https://www.sqlite.org/uri.html): a file
    whose name begins with `file:` is taken for one.
    """
    if not (isinstance(name, (str, bytes)) or hasattr(name, "__fspath__")):
        return None
    path, kind = os.fsdecode(name), "write"
    if path.startswith("file:"):
        # urlsplit raises for some hosts, and drops tabs; SQLite does not.
        from urllib.parse import unquote

        path, _, query = path.removeprefix("file:").partition("#")[0].partition("?")
        if path.startswith("//"):
            path = "".join(path[2:].partition("/")[1:])
        path, options = unquote(path), [unquote(option) for option in query.split("&")]
        if "mode=memory" in options:
            return None
        if "mode=ro" in options or "immutable=1" in options:
            kind = "read"
    return (kind, path) if path not in ("", ":memory:") else None


def serve(values: "Any") -> "NoReturn":
    """Answer one call after another in this process, which keeps what the tool's module keeps; each
    answer follows its size.
    """
    import marshal

    result, requests, here, function = int(sys.argv[-1]), os.dup(0), os.getpid(), None
    os.set_inheritable(result, False)
    _quieten()
    while size := int.from_bytes(_taken(requests, 8), "big"):
        message = marshal.loads(_taken(requests, size))
        sys.argv = [message["path"]]
        os.environ.pop("VESPE_ASK_FD", None)
        if message["ask"]:
            os.environ["VESPE_ASK_FD"] = message["ask"]
        _install_ask(message)
        try:
            function = function or _loaded(message)
            answer = call(message, values, function)
        except Failed as failed:
            import json

            answer = json.dumps({"error": failed.answer}, ensure_ascii=False)
        if os.getpid() != here:
            os._exit(0)
        data = answer.encode("utf-8", "replace")
        _write(result, b"%d ok\n" % len(data) + data)
    _finish()


class Forks:
    """A process in the sandbox that has imported what a tool depends on; each call is a fork of it,
    and nothing of a call is left in it.

    The fork alone reads the call, and is held more closely than this process is: to a temporary
    directory of its own, and, by Landlock's rules on domains, from this process.
    """

    def __init__(
        self, message: "dict[str, Any]", values: "Any", enter: "Any", zygote: "Any"
    ) -> None:
        self.values, self.enter = values, enter
        self.result, self.requests = int(sys.argv[-1]), os.dup(0)
        os.set_inheritable(self.result, False)
        _quieten()
        self.enter.adopt_orphans()
        self.imports(zygote.modules(message["forks"]))

    def imports(self, names: "list[str]") -> None:
        """Import modules. What goes wrong there goes wrong in a call, which says it."""
        import gc

        wanted = {name: "1" for name in THREADS if name not in os.environ}
        # Libraries that calculate start threads when they are imported, and no fork has them.
        os.environ.update(wanted)
        for name in names:
            try:
                __import__(name)
            except BaseException:  # it is others' code
                continue
        for name in wanted:
            os.environ.pop(name, None)
        gc.collect()
        gc.freeze()

    def serve(self) -> "NoReturn":
        """Fork for one call after another; each answer follows its size."""
        import select

        while True:
            select.select([self.requests], [], [])
            if len(os.listdir("/proc/self/task")) > 1:
                _write(self.result, b"0 threads\n")
                os._exit(0)
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                self.call(writer)
            os.close(writer)
            answer, status = self.answer(reader, child)
            os.close(reader)
            self.sweep()
            head = b"ok" if answer else b"died %d" % status
            _write(self.result, b"%d %s\n" % (len(answer), head) + answer)

    def answer(self, reader: int, child: int) -> "tuple[bytes, int]":
        """Return what the fork answered, b"" where it did not, and how it ended; where it did not
        read its call, nothing after it can be understood, and this process ends.
        """
        import select

        watch, data = os.pidfd_open(child), b""
        os.set_blocking(reader, False)
        while True:
            ready = select.select([reader, watch], [], [])[0]
            ended = watch in ready
            try:
                while more := os.read(reader, 1 << 20):
                    data += more
            except BlockingIOError:
                pass
            if ended:
                break
        os.close(watch)
        status = os.waitpid(child, 0)[1]
        if not data:
            os._exit(1)
        whole = len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[1:9], "big")
        return (data[9:] if whole else b""), status

    def sweep(self) -> None:
        """Kill what the call has left, however often it forks."""
        place = f"/proc/self/task/{os.getpid()}/children"
        while True:
            with open(place, encoding="ascii") as file:
                left = file.read().split()
            for pid in left:
                try:
                    os.kill(int(pid), 9)
                except OSError:
                    continue
            if not left:
                return
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return

    def call(self, writer: int) -> "NoReturn":
        """Be the call: read it, be held to what is its own, and answer."""
        import marshal

        try:
            message = marshal.loads(
                _taken(self.requests, int.from_bytes(_taken(self.requests, 8), "big"))
            )
            os.close(self.requests)
            os.close(self.result)
            _write(writer, b"+")
            os.setsid()
            self.enter.restrict_more(message)
            os.environ.clear()
            os.environ.update(message["env"])
            self.begin_anew()
            sys.argv = [message["path"]]
            _install_ask(message)
            identity, here = _identity(writer), os.getpid()
            touched: list[tuple[str, str]] = []
            _watch(touched, message["directory"])
            try:
                answer = call(message, self.values)
            except Failed as failed:
                import json

                answer = json.dumps({"error": failed.answer}, ensure_ascii=False)
            if touched:
                import json

                answer = f'{answer[:-1]}, "touched": {json.dumps(touched)}}}'
            if os.getpid() == here and _identity(writer) == identity:
                data = answer.encode("utf-8", "replace")
                _flush()
                _write(writer, len(data).to_bytes(8, "big") + data)
                _finish()
        finally:
            os._exit(0)

    def begin_anew(self) -> None:
        """Let no two calls have what a new interpreter would draw by chance, or keep for itself."""
        modules = sys.modules
        if "tempfile" in modules:
            modules["tempfile"].__dict__["tempdir"] = None
        if "numpy.random" in modules:  # Python's own is seeded anew by each fork
            modules["numpy.random"].seed()


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the tool has closed it
            continue


def _taken(descriptor: int, size: int) -> bytes:
    """Read so many bytes, fewer at the end of the file."""
    data = b""
    while len(data) < size and (more := os.read(descriptor, size - len(data))):
        data += more
    return data


def _quieten() -> None:
    """Leave nothing to read, and make all that is printed one log, in the order in which it was
    printed.
    """
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]  # a text stream, at start


def _made(values: "Any") -> "Any":
    if isinstance(values, type(sys)):
        return values
    module = type(sys)("vespe_values")
    exec(values, module.__dict__)
    return module


def call(
    message: "dict[str, Any]", values: "Any", function: "Callable[..., Any] | None" = None
) -> str:
    """Call the script's function, which is loaded where it is not given, wait for what it gives,
    and give the answer as JSON.
    """
    try:
        function = function or _function(message)
        inputs = values.converted_inputs(function, message["inputs"])
    except values.Unfit as unfit:
        raise Failed("arguments", unfit.why, pointer=unfit.pointer) from None
    except Failed:
        raise
    except BaseException as error:  # a class of the tool's own that a value is made into
        raise _failed(error, message) from None
    try:
        return str(values.encode(_settled(function(**inputs, **message["args"]))))
    except values.Unfit as unfit:
        raise Failed("output", unfit.why, pointer=unfit.pointer) from None
    except BaseException as error:  # whatever the tool raises is an answer
        raise _failed(error, message) from None


def _settled(value: "Any") -> "Any":
    """Wait for what is awaited; gather what comes one by one."""
    if hasattr(value, "__await__") or hasattr(value, "__aiter__"):
        import asyncio

        async def wait() -> "Any":
            return await value if hasattr(value, "__await__") else [item async for item in value]

        value = asyncio.run(wait())
    return list(value) if hasattr(value, "__next__") else value


def _loaded(message: "dict[str, Any]") -> "Callable[..., Any]":
    try:
        return _function(message)
    except Failed:
        raise
    except BaseException as error:  # a module can answer a look at it with an error
        raise _failed(error, message) from None


def _function(message: "dict[str, Any]") -> "Callable[..., Any]":
    """Load the script as a module and find its entrypoint."""
    directory, path, entrypoint = message["directory"], message["path"], message["entrypoint"]
    module = type(sys)(_module_name(path))
    module.__file__ = path
    sys.modules[module.__name__] = module
    # At the end: what the tool brings along never stands before the standard library or what is
    # installed.
    sys.path.append(os.path.dirname(path))
    if directory not in sys.path:
        sys.path.append(directory)
    try:
        exec(compile(message["source"], path, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:  # whatever the tool's script raises is an answer
        raise _failed(error, message) from None
    function = getattr(module, entrypoint, None)
    where = _relative(path, directory)
    if function is None:
        names = [
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__ and callable(value)
        ]
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        has = f"; it has {', '.join(sorted(names)[:8])}{more}" if names else ""
        raise Failed("tool", f"{where} has no function {entrypoint!r}{has}")
    if not callable(function) or isinstance(function, type):
        raise Failed(
            "tool",
            f"{entrypoint!r} in {where} is not a function but of type {type(function).__name__}",
        )
    return function  # type: ignore[no-any-return]  # callable, as just seen


def _module_name(path: str) -> str:
    """The script's own name, so that its functions pickle, where that name hides no other
    module.
    """
    name = os.path.basename(path).removesuffix(".py")
    finder = next(
        (finder for finder in sys.meta_path if getattr(finder, "__name__", "") == "PathFinder"),
        None,
    )
    taken = (
        name in sys.modules
        or name in sys.stdlib_module_names
        or finder is None
        or finder.find_spec(name, None) is not None
    )
    return name if name.isidentifier() and not taken else "vespe_tool"


def _finish() -> "NoReturn":
    """End at once: the answer is given, so that threads which the tool left running do not hold the
    call.
    """
    import atexit

    # No public name runs them without waiting for threads; multiprocessing ends a fork so too:
    # https://github.com/python/cpython/blob/main/Lib/multiprocessing/process.py
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _identity(descriptor: int) -> "tuple[int, int] | None":
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except BrokenPipeError:
        return


# ---- errors as sentences


def _failed(error: BaseException, message: "dict[str, Any]") -> Failed:
    """The answer for what the tool raised: its class, its text, and the place in the tool's own
    files.
    """
    if isinstance(error, Failed):
        return error
    directory = message["directory"]
    frames = list(_frames(error.__traceback__, directory))
    name = type(error).__name__
    if isinstance(error, SystemExit):
        plain = isinstance(error.code, int) or error.code is None
        what = f"the tool called sys.exit({error.code if plain else repr(error.code)[:200]})"
        return Failed(
            "tool",
            f"{what} and gave no result{_place(frames)}",
            exception=name,
            traceback=_trace(frames),
        )
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(directory):
        place = f" ({_relative(error.filename, directory)}, line {error.lineno})"
        return Failed(
            "tool", f"{name}: {error.msg}{place}", exception=name, traceback=_trace(frames)
        )
    try:
        text = str(error)
    except Exception:  # an error of the tool's own that cannot say what it is
        text = "(its text cannot be had)"
    code = getattr(error, "code", None)
    if code in (NeedsInput.code, Declined.code) and (
        isinstance(error, (NeedsInput, Declined)) or type(error).__module__ == "vespe.errors"
    ):
        action, hint = getattr(error, "action", ""), str(getattr(error, "hint", ""))
        return Failed(str(code), text, tool=message["name"], action=action, hint=hint[:MAX_TEXT])
    if code == "invalid_arguments":
        # vespe.errors.InvalidArguments, raised by the tool itself: what the schema could not say,
        # and the model can mend.
        return Failed("arguments", text, pointer="")
    if isinstance(error, TypeError) and not frames:
        return Failed(
            "tool",
            f"{message['entrypoint']!r} does not accept the arguments of its schema and "
            f"`args`: {text}",
            exception=name,
        )
    if type(error).__module__ == "vespe.errors":
        # a sentence of ours already
        return Failed("tool", text, exception=name, traceback=_trace(frames))
    said = f"{name}: {text[:MAX_TEXT]}" if text else name
    return Failed("tool", f"{said}{_place(frames)}", exception=name, traceback=_trace(frames))


def _frames(trace: "TracebackType | None", directory: str) -> "Iterator[tuple[str, int, str]]":
    """The frames in the tool's own files, outermost first: the file beneath its directory, the
    line, the function.
    """
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.startswith(directory + os.sep):
            yield _relative(code.co_filename, directory), trace.tb_lineno, code.co_name
        trace = trace.tb_next


def _relative(path: str, directory: str) -> str:
    return path.removeprefix(directory + os.sep)


def _place(frames: "list[tuple[str, int, str]]") -> str:
    return f" ({frames[-1][0]}, line {frames[-1][1]})" if frames else ""


def _trace(frames: "list[tuple[str, int, str]]") -> "list[str]":
    shown = frames if len(frames) <= 20 else [*frames[:10], *frames[-10:]]
    return [f"{file}, line {line}, in {function}" for file, line, function in shown]
