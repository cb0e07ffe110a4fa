"""`python -m vespe`, and the `vespe` command."""

import os
import signal


def end(*_: object) -> None:
    """End at once, as a shell expects it of Ctrl-C."""
    os._exit(130)


# Until there is something to end and to tidy up, and when there no longer is, Ctrl-C is the end.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, end)

import contextlib  # noqa: E402  # after the lines above, or they would be too late
import gc  # noqa: E402  # as above
import sys  # noqa: E402  # as above

# A command lives for a moment: collecting garbage while it imports costs more than all the garbage
# that it makes.
gc.disable()

from vespe.cli import main as run  # noqa: E402  # no garbage is collected while it imports

if sys.platform == "linux":
    import _ctypes  # `ctypes` would take four milliseconds more


_PR_SET_DUMPABLE = 4


def main() -> None:
    """Run the command line and end with its exit code, without taking the interpreter down piece by
    piece.
    """
    hide_memory()
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def hide_memory() -> None:
    """Keep what runs as this user from reading this process's environment and memory, where keys
    are; root still can.

    Here and nowhere below: a program that uses the library decides that for itself, prctl(2).
    """
    if sys.platform == "linux":
        program = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None is this program itself; typeshed wants a name
        prctl = _ctypes.dlsym(program, "prctl")
        _ctypes.call_function(prctl, (_PR_SET_DUMPABLE, 0, 0, 0, 0))


if __name__ == "__main__":
    main()
