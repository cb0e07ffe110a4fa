"""`python -m vespe`, and the `vespe` command."""

import sys

from vespe.cli import main as run


def main() -> None:
    """Run the command line and end with its exit code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
