"""A browser whose person says yes to everything: it follows where it is sent. It is started by the
environment variable BROWSER, and imports little, since it starts often.
"""

import sys
import urllib.request
from pathlib import Path

BROWSER = f"{sys.executable} -S {Path(__file__).resolve()} %s"
"""The value of the variable BROWSER."""


def visit(url: str) -> str:
    """Do as a browser that is sent from page to page, and return the last page."""
    with urllib.request.urlopen(url, timeout=30) as answer:  # loopback
        return str(answer.read().decode())


if __name__ == "__main__":
    visit(sys.argv[1])
