"""Ask the operating system's keyring one thing, in a process of its own: a store that hangs, asks
or crashes takes nobody with it.
"""
# On stdin one JSON object: `do` (get, set, delete, probe), `service`, `user`, `value`, and `path`,
# where modules may be besides what `-I` leaves. On stdout one: `value`, or `fault` and `said`.

import json
import sys
from typing import Any

_DUMPABLE = 4
_MISSING = "missing"


def main() -> None:
    """Answer the request on stdin."""
    asked = json.load(sys.stdin)
    _hide()
    sys.path += [path for path in asked["path"] if path not in sys.path]
    sys.stdout.write(json.dumps(_answered(asked)))


def _hide() -> None:
    """Let no other process of this user read the secret out of the memory of this one (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)


def _answered(asked: dict[str, Any]) -> dict[str, Any]:
    try:
        import keyring
        from keyring import errors
    except ImportError as error:
        if str(error.name).partition(".")[0] == "keyring":
            return {"fault": _MISSING}
        raise
    backend = keyring.get_keyring()
    kind = f"{type(backend).__module__}.{type(backend).__qualname__}"
    said: dict[str, Any] = {"backend": kind.removeprefix("keyring.backends.")}
    if asked["do"] == "probe":
        return said | {"usable": _is_usable(backend, kind)}
    try:
        return said | {"value": _done(backend, asked, kind, errors)}
    except errors.KeyringLocked as error:
        return said | {"fault": "locked", "said": str(error)}
    except (errors.NoKeyringError, errors.InitError) as error:
        return said | {"fault": "none", "said": str(error)}


def _is_usable(backend: Any, kind: str) -> bool:
    """Whether it keeps what it is given, for this user alone: keyrings.alt writes plain files."""
    kinds = [kind, *(f"{type(one).__module__}" for one in getattr(backend, "backends", ()))]
    return backend.priority > 0 and not all(
        one.startswith(("keyring.backends.null", "keyring.backends.fail", "keyrings.alt"))
        for one in kinds[1:] or kinds
    )


def _done(backend: Any, asked: dict[str, Any], kind: str, errors: Any) -> str | None:
    service, user = asked["service"], asked["user"]
    if kind.startswith(("keyring.backends.fail", "keyring.backends.null")):
        raise errors.NoKeyringError("")
    if asked["do"] == "set":
        backend.set_password(service, user, asked["value"])
        return None
    found: str | None = backend.get_password(service, user)
    if asked["do"] == "delete" and found is not None:
        backend.delete_password(service, user)
    return found


if __name__ == "__main__":
    main()
