"""Says how much a directory of the project holds."""

from vespe.files.confined import Directory, Entry


def disk_usage(path: str = ".") -> dict[str, int]:
    with Directory(".") as project:
        found = [_file(project, path)] if project.kind(path) == "file" else project.walk(path)
        totals = {"files": 0, "directories": 0, "bytes": 0, "unreadable": 0}
        for entry in found:
            totals["files"] += entry.kind == "file"
            totals["directories"] += entry.kind == "directory"
            totals["bytes"] += entry.size
            totals["unreadable"] += entry.problem is not None
    return totals


def _file(project: Directory, path: str) -> Entry:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return next(
        entry
        for entry in project.list("/".join(parts[:-1]) or ".")
        if entry.path == "/".join(parts)
    )
