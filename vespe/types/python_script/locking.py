"""Writing a script's lock, in uv's format: by uv where there is one, else from what pip would
install.
"""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from vespe.documents import strict_json
from vespe.errors import InvalidDocument, ToolExecutionError
from vespe.files import atomic
from vespe.lazy import hashlib, tempfile, urls
from vespe.tools.python.script_lock import installed_needs, read_requirements
from vespe.tools.python.script_metadata import Asked, Metadata, normal
from vespe.types.python_script.environments import Installer

_INDEX: Final = "https://pypi.org/simple"


def lock_of(
    source: bytes, metadata: Metadata, *, environment: Mapping[str, str], sandbox: str = "auto"
) -> bytes:
    """Return the lock of a script with these bytes; the packages are looked up, nothing of them is
    installed.

    uv locks for every platform, pip for this one. Raises ToolExecutionError with the dependency
    that cannot be had, StorageError, TimedOut.
    """
    installer = Installer(environment, sandbox=sandbox)
    with tempfile.TemporaryDirectory(prefix="vespe-lock-") as aside:
        script = os.path.join(aside, "script.py")
        atomic.write_atomic(script, source, durable=False)
        if installer.uv:
            installer.run(
                (installer.uv, "lock", "--quiet", "--script", script),
                metadata.dependencies,
                aside=aside,
            )
            made = atomic.read_bytes(script + ".lock")
        else:
            made = _written(
                _report(installer, aside, metadata),
                metadata,
                environment.get("PIP_INDEX_URL") or _INDEX,
            ).encode()
    try:
        read_requirements(made, metadata, path="the lock")
    except InvalidDocument as error:
        raise ToolExecutionError(
            f"{installer.name} returned a lock that cannot be checked: {error.reason}",
            hint=error.hint,
        ) from None
    return made


def _report(installer: Installer, aside: str, metadata: Metadata) -> list[dict[str, Any]]:
    place = os.path.join(aside, "environment")
    arguments = (
        "--dry-run",
        "--ignore-installed",
        "--report",
        os.path.join(aside, "report.json"),
        "--",
        *metadata.dependencies,
    )
    installer.make(place, arguments, names=metadata.dependencies)
    report: Any = strict_json.parse_json(
        atomic.read_bytes(os.path.join(aside, "report.json"), limit=64 << 20), limit=64 << 20
    )
    found: list[dict[str, Any]] = report["install"]
    return sorted(found, key=lambda item: normal(item["metadata"]["name"]))


def _written(report: list[dict[str, Any]], metadata: Metadata, index: str) -> str:
    names = {normal(item["metadata"]["name"]) for item in report}
    asked = ", ".join(_table(one) for one in metadata.asked())
    lines = [
        "version = 1",
        "revision = 1",
        f"requires-python = {_text(metadata.requires_python or '>=3.11')}",
        "",
    ]
    lines += ["[manifest]", f"requirements = [{asked}]"]
    for item in report:
        lines += ["", "[[package]]", *_package(item, names, index)]
    return "\n".join(lines) + "\n"


def _package(item: dict[str, Any], names: set[str], index: str) -> Iterator[str]:
    """Yield the lines of one package, from pip's report:
    https://pip.pypa.io/en/stable/reference/installation-report/.
    """
    said, file = item["metadata"], item["download_info"]
    name = normal(said["name"])
    yield f"name = {_text(name)}"
    yield f"version = {_text(said['version'])}"
    yield (
        f"source = {{ {'url' if item.get('is_direct') else 'registry'} = "
        f"{_text(file['url'] if item.get('is_direct') else index)} }}"
    )
    needs = [
        one
        for one in installed_needs(said.get("requires_dist", []), item.get("requested_extras", []))
        if one.name in names
    ]
    if needs:
        yield f"dependencies = [{', '.join(_table(one) for one in needs)}]"
    digest = digest_of(file)
    wheel = urls.urlsplit(file["url"]).path.endswith(".whl")
    one = f"{{ url = {_text(file['url'])}, hash = {_text('sha256:' + digest)} }}" if digest else ""
    if one:
        yield f"wheels = [{one}]" if wheel else f"sdist = {one}"


def digest_of(file: Mapping[str, Any]) -> str:
    """Return the SHA-256 (hex) of a package's file, from what pip says of its download; "" where
    nothing tells.

    Before 23.1, which Debian 12 has, pip says one hash, and of a file on this machine none.
    """
    said, there = file.get("archive_info"), urls.urlsplit(file["url"])
    if said is None:
        return ""
    one = said.get("hash", "")
    if digest := said.get("hashes", {}).get("sha256") or (
        one.removeprefix("sha256=") if one.startswith("sha256=") else ""
    ):
        return str(digest)
    if there.scheme != "file":
        return ""
    path = urls.unquote(there.path)
    with atomic.translated("read", path), open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _table(asked: Asked) -> str:
    members = [
        ("name", _text(asked.name)),
        ("extras", json.dumps([*asked.extras]) if asked.extras else ""),
    ]
    members += [
        ("specifier", _text(asked.specifier)),
        ("url", _text(asked.url)),
        ("marker", _text(asked.marker)),
    ]
    return (
        "{ "
        + ", ".join(f"{key} = {value}" for key, value in members if value not in ("", '""'))
        + " }"
    )


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
