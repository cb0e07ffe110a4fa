"""Reads a text file of the project, or some of its lines."""

from vespe.files.confined import Directory
from vespe.files.confined_views import read_lines


def read_file(path: str, start_line: int = 1, line_count: int | None = None) -> str:
    with Directory(".") as project:
        return read_lines(project, path, start_line=start_line, line_count=line_count)
