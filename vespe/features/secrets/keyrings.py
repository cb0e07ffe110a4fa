"""The operating system's keyring: the Secret Service on Linux (GNOME, KDE), the Keychain on macOS,
as the library `keyring` finds it.

Each request is a process of its own with a deadline (`keyring_child.py`): a locked keyring asks its
user, who may be nowhere.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Final

from vespe import errors
from vespe.lazy import shlex
from vespe.models import JsonObject
from vespe.processes import process

TIMEOUT_S: Final = 30.0
_CHILD: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keyring_child.py")
_MOST_BYTES: Final = 1024 * 1024
OWN: Final = "vespe"
"""The service of the entries that Vespe puts there."""
Fails = Callable[[str, str], errors.SecretUnavailable]
"""Makes the error of a keyring that gives nothing, from why and a hint, in which NAME stands for
the secret's name.
"""


def read(place: str, environment: Mapping[str, str], fails: Fails) -> str:
    """Return what the keyring holds under `SERVICE/USER`; raises what `fails` makes, and
    MissingExtra.
    """
    value = _asked("get", place, environment, fails=fails).get("value")
    if not isinstance(value, str):
        service, _, user = place.rpartition("/")
        puts = f"vespe secret set {user}" if service == OWN else f"keyring set {_words(place)}"
        raise fails("the keyring has no such entry", f"`{puts}` puts one there")
    return value


def write(place: str, value: str, environment: Mapping[str, str], *, fails: Fails) -> None:
    """Put a value into the keyring under `SERVICE/USER`."""
    _asked("set", place, environment, fails=fails, value=value)


def delete(place: str, environment: Mapping[str, str], fails: Fails) -> bool:
    """Remove an entry, and say whether there was one."""
    return _asked("delete", place, environment, fails=fails).get("value") is not None


def require(name: str, environment: Mapping[str, str]) -> None:
    """Raise MissingExtra or SecretUnavailable where the keyring cannot be asked for the secret
    `name`, be it there or not.
    """
    place = f"{OWN}/{name}"

    def fails(why: str, hint: str) -> errors.SecretUnavailable:
        return errors.SecretUnavailable(
            name, store="keyring", place=f"keyring:{place}", why=why, hint=hint
        )

    _asked("get", place, environment, fails=fails)


def is_usable(environment: Mapping[str, str]) -> bool:
    """Say whether this machine has a keyring that keeps secrets; without the extra there is
    none.
    """

    def fails(why: str, hint: str) -> errors.SecretUnavailable:
        return errors.SecretUnavailable("", store="keyring", place="", why=why, hint=hint)

    try:
        return _asked("probe", "/", environment, fails=fails).get("usable") is True
    except (errors.SecretUnavailable, errors.MissingExtra):
        return False


def _asked(
    do: str, place: str, environment: Mapping[str, str], *, fails: Fails, value: str | None = None
) -> JsonObject:
    service, _, user = place.rpartition("/")
    here = os.getcwd()
    asked = {
        "do": do,
        "service": service,
        "user": user,
        "value": value,
        "path": [path for path in sys.path if os.path.isabs(path) and path != here],
    }
    try:
        finished = process.run(
            process.Command(
                argv=(sys.executable, "-I", _CHILD),
                cwd="/",
                env=dict(environment),
                stdin=json.dumps(asked).encode(),
                timeout_s=TIMEOUT_S,
                cap_bytes=_MOST_BYTES,
                name="the keyring",
            )
        )
    except errors.TimedOut:
        raise fails(
            f"the keyring did not answer within {TIMEOUT_S:g} s: it may be asking for its password",
            "unlock it, then try again",
        ) from None
    except errors.OutputTooLarge:
        raise fails("the entry is too large", "store only the secret in it") from None
    try:
        answer: JsonObject = json.loads(finished.stdout)
    except ValueError:
        lines = finished.stderr.decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        how = f"signal {finished.signal}" if finished.signal else f"code {finished.returncode}"
        raise fails(
            f"the keyring process ended with {how}" + (f": {last[:300]}" if last else ""),
            "check that your desktop's keyring works, for example with `keyring get "
            f"{_words(place)}`",
        ) from None
    _check(answer, fails)
    return answer


def _words(place: str) -> str:
    service, _, user = place.rpartition("/")
    return shlex.join((service, user)) if user else "SERVICE USER"


def _check(answer: JsonObject, fails: Fails) -> None:
    fault, backend = answer.get("fault"), answer.get("backend")
    if fault == "missing":
        raise errors.MissingExtra("the keyring", extra="keyring", module="keyring")
    if fault == "locked":
        raise fails(
            f"the keyring ({backend}) is locked",
            "unlock it in your desktop's password manager, then try again; on a machine without a "
            "desktop, keep the secret in a file: `vespe secret set NAME --store file`",
        )
    if fault == "none":
        raise fails(
            "no keyring is available on this machine"
            if str(backend).startswith(("fail", "null"))
            else f"the keyring ({backend}) cannot be opened: {str(answer.get('said'))[:300]}",
            "a machine without a desktop has none: use a file, `vespe secret set NAME --store "
            "file`, or a command such as pass",
        )
