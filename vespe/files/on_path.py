"""Whether a program is on PATH."""

import functools

from vespe.lazy import shutil


@functools.cache
def is_on_path(program: str) -> bool:
    """Say whether a program is on PATH: asked once a process. What has a slash is a path."""
    return "/" in program or shutil.which(program) is not None
