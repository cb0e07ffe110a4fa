"""Strict JSON and safe YAML between bytes and data; bounded reading, atomic durable writing, and one lock a directory."""

import contextlib
import errno
import fcntl
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from vespe import defaults
from vespe.documents.json_text import text_encoder
from vespe.documents.nesting import deeper_than
from vespe.documents.pointers import escape_pointer
from vespe.errors import InvalidDocument, NotDurable, StorageError
from vespe.lazy import deferred
from vespe.models import JsonObject, JsonValue
from vespe.processes.signals import open_to_signals, whole

if TYPE_CHECKING:
    import yaml
else:
    yaml = deferred("yaml")

_MAX_INTEGER_DIGITS = 4300
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')
_COMPACT = text_encoder(json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")))
_TOKEN = re.compile(r'(?P<key>"(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}]|[-+.\w]+')


def parse_json(data: bytes | str, *, path: str = "", limit: int = defaults.MAX_FILE_BYTES) -> JsonValue:
    """Read strict JSON (RFC 8259, and narrower): UTF-8, no BOM, no duplicate keys, NaN, infinities or lone surrogates.

    `limit` is in bytes; at most 64 levels. Raises InvalidDocument with the line and column where they are known.
    """
    if len(data) > limit:
        raise InvalidDocument(f"is larger than {limit} bytes", path=path)
    text = _decode(data, path) if isinstance(data, bytes) else data
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InvalidDocument(f"is not JSON: {error.msg}", path=path, line=error.lineno, column=error.colno) from None
    except _Refusal as refusal:
        raise InvalidDocument(str(refusal), path=path, line=_line_of(text, refusal.needle)) from None
    except RecursionError:
        raise _too_deep(text, path) from None
    if text.count("[") + text.count("{") > defaults.MAX_JSON_DEPTH and deeper_than(value, defaults.MAX_JSON_DEPTH):
        raise _too_deep(text, path)
    if "\\u" in text or not isinstance(data, bytes):
        _refuse_surrogates(value, path)
    return value


def parse_object(data: bytes | str, *, path: str = "", limit: int = defaults.MAX_FILE_BYTES) -> JsonObject:
    """Read strict JSON whose root is an object; raises InvalidDocument where it is anything else."""
    value = parse_json(data, path=path, limit=limit)
    if not isinstance(value, dict):
        raise InvalidDocument(f"must hold a JSON object, not {_kind(value)}", path=path, line=1)
    return value


def parse_yaml(data: bytes | str, *, path: str = "", limit: int = defaults.MAX_FILE_BYTES) -> JsonValue:
    """Read one YAML document with the safe loader; aliases are refused, since nine lines of them can make 10^9 leaves."""
    if len(data) > limit:
        raise InvalidDocument(f"is larger than {limit} bytes", path=path)
    text = _decode(data, path) if isinstance(data, bytes) else data
    try:
        _refuse_yaml_bombs(text, path)
        return yaml.safe_load(text)
    except InvalidDocument:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error)
        raise InvalidDocument(f"is not YAML: {reason}", path=path, line=mark.line + 1 if mark else 0) from None
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(f"is not YAML: {error}", path=path) from None


def yaml_positions(data: bytes | str) -> Iterator[tuple[tuple[str | int, ...], tuple[int, int]]]:
    """Give the steps to each value of a YAML document with its line and column, from 1; raises as `parse_yaml` does."""
    text = _decode(data, "") if isinstance(data, bytes) else data
    try:
        _refuse_yaml_bombs(text, "")
        waiting: list[tuple[tuple[str | int, ...], Any]] = [((), yaml.compose(text, Loader=yaml.SafeLoader))]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise error if isinstance(error, InvalidDocument) else InvalidDocument(f"is not YAML: {error}") from None
    while waiting:
        steps, node = waiting.pop()
        if node is None:
            continue
        yield steps, (node.start_mark.line + 1, node.start_mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            waiting += [((*steps, str(key.value)), value) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [((*steps, index), value) for index, value in enumerate(node.value)]


def _refuse_yaml_bombs(text: str, path: str) -> None:
    """Read the events one by one, so that what would take PyYAML minutes (it is quadratic in depth) ends at its 65th level."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent):
            raise InvalidDocument("uses a YAML alias, which Vespe does not read", path=path, line=line)
        if depth > defaults.MAX_JSON_DEPTH:
            raise InvalidDocument(f"is nested deeper than {defaults.MAX_JSON_DEPTH} levels", path=path, line=line)


def dump_json(value: JsonValue) -> str:
    """Write JSON for a file: two-space indent, no ASCII escapes, a final newline; a lone surrogate becomes U+FFFD.

    Raises ValueError for NaN and infinities, TypeError for what JSON cannot say.
    """
    return repair_surrogates(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def compact_json(value: JsonValue) -> str:
    """Write JSON for a line or an argument: no spaces after separators, no ASCII escapes; a lone surrogate becomes U+FFFD.

    Raises as `dump_json` does.
    """
    return repair_surrogates(_COMPACT(value))


def repair_surrogates(text: str) -> str:
    """Give `text` with each lone surrogate, which UTF-8 cannot say, as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _has_surrogate(text) else text


@whole
def read_bytes(path: str | os.PathLike[str], *, limit: int = defaults.MAX_FILE_BYTES) -> bytes:
    """Read a regular file of at most `limit` bytes without ever blocking or following a link at its last component.

    Raises InvalidDocument for what is no regular file (a FIFO, a device, a link) or too large, StorageError for
    what the operating system refuses; FileNotFoundError's errno is kept in `details`.
    """
    name = os.fspath(path)
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InvalidDocument("is a symbolic link, which Vespe does not follow", path=name) from None
        if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):
            raise InvalidDocument("is no regular file", path=name) from None
        raise StorageError("read", name, error) from error
    try:
        return _read_descriptor(descriptor, name, limit)
    except OSError as error:
        raise StorageError("read", name, error) from error
    finally:
        os.close(descriptor)


def read_object(path: str | os.PathLike[str], *, limit: int = defaults.MAX_FILE_BYTES) -> JsonObject:
    """Read a file that holds one strict JSON object."""
    name = os.fspath(path)
    return parse_object(read_bytes(name, limit=limit), path=name, limit=limit)


def read_object_if_there(path: str | os.PathLike[str], *, limit: int = defaults.MAX_FILE_BYTES) -> JsonObject:
    """Read a file that holds one strict JSON object; an empty one stands for a file that does not exist."""
    try:
        return read_object(path, limit=limit)
    except StorageError:
        if not os.path.lexists(path):
            return {}
        raise


@whole
def write_atomic(path: str | os.PathLike[str], data: bytes | str, *, mode: int = 0o644, durable: bool = True) -> None:
    """Replace `path` in one step: a private file beside it, fsync, rename, fsync of the directory.

    At every instant the file is wholly old or wholly new. `durable=False` leaves the fsyncs out (caches). Raises
    StorageError and leaves nothing behind; NotDurable where the file is new, but the disk did not confirm the rename.
    """
    name = os.fspath(path)
    content = data.encode("utf-8") if isinstance(data, str) else data
    aside = f"{name}.{os.getpid():x}-{time.monotonic_ns():x}.tmp"
    try:
        _write_new(aside, content, mode, durable)
        os.replace(aside, name)
    except OSError as error:
        raise StorageError("write", name, error) from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(aside)
    if durable:
        try:
            sync_directory(os.path.dirname(name) or ".")
        except OSError as error:
            raise NotDurable(name, error) from error


@whole
def rename_durably(source: str, target: str) -> None:
    """Rename to what does not exist, and flush the directory of `target`; where that fails, the rename is undone.

    Raises OSError, and NotDurable where it could not be undone.
    """
    os.rename(source, target)
    try:
        sync_directory(os.path.dirname(target))
    except OSError as error:
        try:
            os.rename(target, source)
        except OSError:
            raise NotDurable(target, error) from error
        raise


@whole
def sync_directory(path: str) -> None:
    """Flush a directory's entries, so that a rename in it outlives a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
@whole
def locked(directory: str, *, timeout_s: float = defaults.LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold the exclusive lock of a directory; the kernel lets go of it when its holder dies.

    Raises StorageError when another process holds it for `timeout_s` seconds, or the directory cannot be opened, or is none.
    """
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise StorageError("lock", directory, error) from error
    try:
        _acquire(descriptor, directory, timeout_s)
        yield
    finally:
        os.close(descriptor)


@open_to_signals
def _acquire(descriptor: int, directory: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                raise StorageError("lock", directory, error) from error
        if time.monotonic() > deadline:
            raise StorageError("lock", directory, OSError(errno.EAGAIN, f"another process has held its lock for {timeout_s:g} s"))
        time.sleep(0.01)


def _write_new(path: str, content: bytes, mode: int, durable: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_descriptor(descriptor: int, name: str, limit: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise InvalidDocument("is no regular file", path=name)
    if status.st_size > limit:
        raise InvalidDocument(f"is larger than {limit} bytes", path=name)
    data = os.read(descriptor, status.st_size + 1)
    while len(data) <= limit and (more := os.read(descriptor, limit + 1 - len(data))):
        data += more
    if len(data) > limit:
        raise InvalidDocument(f"is larger than {limit} bytes", path=name)
    return data


class _Refusal(ValueError):
    """JSON that parses and that Vespe refuses: for the token `needle`, or (None) for a key that comes twice."""

    def __init__(self, message: str, needle: str | None) -> None:
        super().__init__(message)
        self.needle = needle


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # add gives None
        raise _Refusal(f"has the key {_shown(json.dumps(twice))} twice in one object", None)
    return made


def _constant(name: str) -> NoReturn:
    raise _Refusal(f"holds {name}, which JSON cannot say", name)


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _Refusal(f"holds {_shown(text)}, a number too large for a double", text)
    return number


def _shown(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"


def _integer(text: str) -> int:
    if len(text) > _MAX_INTEGER_DIGITS:
        raise _Refusal(f"holds an integer of {len(text)} digits", text)
    return int(text)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_integer)


def _decode(data: bytes, path: str) -> str:
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise InvalidDocument("begins with a byte order mark; save it as UTF-8 without one", path=path, line=1)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidDocument(f"is not UTF-8: byte 0x{data[error.start]:02x}", path=path, line=line) from None


def _too_deep(text: str, path: str) -> InvalidDocument:
    depth, line = 0, 0
    for token in _BRACKET.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > defaults.MAX_JSON_DEPTH:
            line = text.count("\n", 0, token.start()) + 1
            break
    return InvalidDocument(f"is nested deeper than {defaults.MAX_JSON_DEPTH} levels", path=path, line=line)


def _refuse_surrogates(value: JsonValue, path: str) -> None:
    for pointer, text in _texts(value, ""):
        if _has_surrogate(text):
            raise InvalidDocument("holds a lone surrogate, which UTF-8 cannot say", path=path, pointer=pointer)


def _texts(value: JsonValue, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield pointer, key
            yield from _texts(item, f"{pointer}/{escape_pointer(key)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{pointer}/{index}")


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _line_of(text: str, needle: str | None) -> int:
    """Give the line of the number or constant `needle`, or (None) of the first key that its object has already."""
    keys: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word == "{":
            keys.append(set())
        elif word == "}":
            keys.pop()
        elif token["key"] and needle is None:
            if (key := json.loads(token["key"])) in keys[-1]:
                return text.count("\n", 0, token.start()) + 1
            keys[-1].add(key)
        elif needle is not None and word == needle:
            return text.count("\n", 0, token.start()) + 1
    return 0


_KINDS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (lambda v: v is None, "null"),
    (lambda v: isinstance(v, bool), "a boolean"),
    (lambda v: isinstance(v, (int, float)), "a number"),
    (lambda v: isinstance(v, str), "a string"),
    (lambda v: isinstance(v, list), "an array"),
)


def _kind(value: JsonValue) -> str:
    return next((name for holds, name in _KINDS if holds(value)), "an object")
