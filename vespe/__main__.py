"""`python -m vespe`, and the `vespe` command."""

import contextlib
import gc
import os
import signal
import sys

# A command lives for a moment: collecting garbage while it imports costs more than all the garbage that it makes.
gc.disable()

# Until there is something to end and to tidy up, Ctrl-C is the end.
_interactive = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _interactive:
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))

from vespe.cli import main as run  # noqa: E402  # after the lines above, or they would be too late


def main() -> None:
    """Run the command line and end with its exit code, without taking the interpreter down piece by piece."""
    if _interactive:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
