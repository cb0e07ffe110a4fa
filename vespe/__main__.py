"""`python -m vespe`, and the `vespe` command."""

import contextlib
import gc
import os
import sys

# A command lives for a moment: collecting garbage while it imports costs more than all the garbage that it makes.
gc.disable()

from vespe.cli import main as run  # noqa: E402  # after the line above, or it would be too late


def main() -> None:
    """Run the command line and end with its exit code, without taking the interpreter down piece by piece."""
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
