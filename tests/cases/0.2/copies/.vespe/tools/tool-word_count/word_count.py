"""Counts the lines, words and bytes of a text, or of a file of the project."""

from vespe.files.confined import Directory


def word_count(text: str = "", path: str | None = None) -> dict[str, int]:
    with Directory(".") as project:
        data = text.encode("utf-8") if path is None else project.read_bytes(path)
    return {"lines": data.count(b"\n"), "words": len(data.split()), "bytes": len(data)}
