"""Fetching a secret from where its reference leads: once, bounded in time and size.

What comes back is a value that a variable of a process can hold, or SecretUnavailable, which names
the store, what is wrong and what to do. No error quotes a value.
"""

import errno
import os
import stat
import threading
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Final

from vespe import errors
from vespe.documents import redaction
from vespe.errors import SecretUnavailable
from vespe.features.secrets import keyrings, references, settings, tokens
from vespe.files import ownership
from vespe.lazy import shlex
from vespe.models import JsonObject
from vespe.processes import process
from vespe.records import dataclass

MOST_BYTES: Final = 64 * 1024
"""The longest value of a secret."""
_SAID: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRequest:
    """One secret to fetch: its `name`, the `reference`, and the `environment` of the user's, in
    which variables are looked up and commands run. `cancel` ends a command. `inside` is where in
    the secret's own reference this one stands, such as `.token.client_secret`.
    """

    name: str
    reference: JsonObject = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    cancel: threading.Event | None = None
    inside: str = ""

    @property
    def setting(self) -> str:
        """The setting that the reference is, as `vespe config set` takes it."""
        return f"{settings.setting_of(self.name)}{self.inside}"

    def fails(self, why: str, hint: str) -> SecretUnavailable:
        """Return the error that says why there is no value."""
        return SecretUnavailable(
            self.name,
            store=references.store_of(self.reference),
            place=references.shown(self.reference),
            why=why,
            # A part of a token's reference has no name of its own.
            hint=hint if self.inside else hint.replace("set NAME", f"set {self.name}"),
        )


def fetch(asked: SecretRequest) -> str:
    """Return the value; raises SecretUnavailable, and Interrupted where `cancel` was set."""
    return fetch_lasting(asked)[0]


def fetch_lasting(asked: SecretRequest) -> tuple[str, float | None]:
    """Return the value, and how many seconds it is good for, where its source says so; raises as
    `fetch` does.
    """
    store = references.store_of(asked.reference)
    return _from_token(asked) if store == "token" else (_FETCH[store](asked), None)


def _from_token(asked: SecretRequest) -> tokens.FetchedToken:
    said = asked.reference["token"]

    def value(key: str) -> str:
        source = said[key]
        if isinstance(source, str):
            return source
        return fetch(replace(asked, reference=source, inside=f".token.{key}"))

    return tokens.ask(
        tokens.TokenClient(
            url=said["url"],
            id=value("client_id"),
            secret=value("client_secret"),
            more=tuple((key, said[key]) for key in ("scope", "audience") if said.get(key)),
        ),
        fails=asked.fails,
    )


def _from_environment(asked: SecretRequest) -> str:
    name = asked.reference["ref"].partition(":")[2]
    if not (value := asked.environment.get(name, "")):
        raise asked.fails(
            "the variable is empty" if name in asked.environment else "the variable is not set",
            f"set {name}, or choose another place: `vespe config set {asked.setting}.ref …`",
        )
    return value


def _from_keyring(asked: SecretRequest) -> str:
    place = asked.reference["ref"].partition(":")[2]
    value = keyrings.read(place, asked.environment, asked.fails)
    return _text(asked, value.encode("utf-8", "surrogatepass"))


def _from_file(asked: SecretRequest) -> str:
    path = os.path.expanduser(asked.reference["ref"].partition(":")[2])
    try:
        # A named pipe must not make this wait, and a terminal must not become ours.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        hint = f"put the secret into {path}, with mode 600"
        if error.errno in (errno.EACCES, errno.EPERM):
            hint = "check that you can read it; `vespe secret set` stores a value in your own file"
        raise asked.fails(_reason(error), hint) from None
    try:
        _check_private(asked, path, os.fstat(descriptor))
        _check_place(asked, path)
        data = _read(asked, descriptor)
    finally:
        os.close(descriptor)
    return _text(asked, data)


def _reason(error: OSError) -> str:
    return os.strerror(error.errno or errno.EIO)


def _check_private(asked: SecretRequest, path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise asked.fails("it is not a regular file", "put the secret into a separate file")
    quoted = shlex.quote(path)
    copy = f"make your own copy: `(umask 077; cat {quoted} > COPY)`"
    if status.st_uid not in (0, os.geteuid()):
        said = f"the file belongs to another user (number {status.st_uid}), who could change it"
        raise asked.fails(said, copy)
    if status.st_mode & 0o077:
        raise asked.fails(
            f"others can open the file (mode {stat.S_IMODE(status.st_mode):o})",
            f"`chmod 600 {quoted}`" if status.st_uid == os.geteuid() else copy,
        )


def _check_place(asked: SecretRequest, path: str) -> None:
    """Refuse a file where another user can put a link to a private file of this user in its
    place: what is there would be sent as the secret.
    """
    if found := ownership.foreign_place(path):
        directory, why = found
        said = f"its directory {directory} {why}, who could put another file in its place"
        otherwise = "move it to a directory that only you can change"
        raise asked.fails(said, ownership.remedy(directory, otherwise=otherwise))


def _read(asked: SecretRequest, descriptor: int) -> bytes:
    data = b""
    try:
        while len(data) <= MOST_BYTES and (more := os.read(descriptor, MOST_BYTES + 1)):
            data += more
    except OSError as error:
        raise asked.fails(_reason(error), "check that the file can be read") from None
    return data


def _from_command(asked: SecretRequest) -> str:
    reference = asked.reference
    argv, seconds = reference["command"], reference.get("timeout_s", references.TIMEOUT_S)
    program = os.path.basename(argv[0])
    home = os.path.expanduser("~")
    try:
        finished = process.run(
            process.Command(
                argv=argv,
                # Not where Vespe was started: a project's files could say what the program does.
                cwd=home if os.path.isdir(home) else "/",
                env=dict(asked.environment),
                timeout_s=seconds,
                cap_bytes=MOST_BYTES,
                name=program,
            ),
            cancel=asked.cancel,
        )
    except errors.Interrupted:
        raise
    except errors.TimedOut as error:
        raise asked.fails(
            f"it did not end within {seconds:g} s{_quoted(error.details.get('stderr', ''))}",
            "it cannot prompt, because it has no terminal: unlock its store first; `vespe config "
            f"set {asked.setting}.timeout_s SECONDS` raises its time limit",
        ) from None
    except errors.OutputTooLarge:
        raise asked.fails(
            f"it printed more than {MOST_BYTES} bytes",
            "use a command that prints only the secret",
        ) from None
    except errors.VespeError as error:
        raise asked.fails(str(error), error.hint or "check that it runs in a terminal") from None
    printed = finished.stdout.decode("utf-8", "replace").strip()
    said = finished.stderr.decode("utf-8", "replace")
    # A program that traces itself prints the secret there too.
    said = str(redaction.redact(said, (printed, *printed.splitlines()))) if printed else said
    if finished.returncode != 0:
        how = f"signal {finished.signal}" if finished.signal else f"code {finished.returncode}"
        raise asked.fails(
            f"it ended with {how}{_quoted(said)}",
            "run it in a terminal to see why; it gets no input and no terminal here",
        )
    if not finished.stdout.strip():
        raise asked.fails(f"it printed nothing{_quoted(said)}", "run it in a terminal to see why")
    return _lines(asked, _text(asked, finished.stdout))


def _lines(asked: SecretRequest, text: str) -> str:
    lines, wanted = text.splitlines(), asked.reference.get("lines", "one")
    if len(lines) < 2 or wanted == "all":
        return text
    if wanted == "first":
        if not lines[0]:
            raise asked.fails("its first line is empty", "use a command that prints the secret")
        return lines[0]
    raise asked.fails(
        f"it printed {len(lines)} lines",
        f"select which lines are the secret: `vespe config set {asked.setting}.lines first`, or "
        "all",
    )


def _quoted(said: str) -> str:
    """The end of what a program wrote to stderr, on one line."""
    line = " ".join(said.split())
    return f": {line if len(line) <= _SAID else '…' + line[-_SAID:]}" if line else ""


def _text(asked: SecretRequest, data: bytes) -> str:
    try:
        return value_in(data)
    except ValueError as error:
        raise asked.fails(str(error), "put only the secret there, as text") from None


def value_in(data: bytes) -> str:
    """Return a value as text, without the line end that ends a file; raises ValueError, whose
    sentence quotes nothing, for what no variable of a process can hold.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    text = text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")
    if not text.strip():
        raise ValueError("it is empty")
    if "\0" in text:
        raise ValueError("it contains a NUL character, which is not allowed in a variable")
    return text


_FETCH: Final[dict[str, Callable[[SecretRequest], str]]] = {
    "keyring": _from_keyring,
    "env": _from_environment,
    "file": _from_file,
    "command": _from_command,
}
