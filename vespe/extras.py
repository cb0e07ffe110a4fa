"""How this installation of Vespe gets another extra: with the program that installed Vespe, from
the place that it was installed from.

uv and pipx create the environment of a tool again, so a command that names only the new extra would
remove the others. Imported only where an extra is missing.
"""

import json
import os
import shlex
from importlib import metadata
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement

_NAME = "vespe"


def command(extra: str, *, prefix: str) -> tuple[str, str]:
    """Return the command that installs the extra into the environment at `prefix`, and where it is
    to be typed: "" for anywhere.
    """
    place, is_editable = _origin()
    installer = _installer_of(prefix, is_editable=is_editable)
    kept = () if "pip install" in installer else _present()
    wanted = ",".join(sorted({extra, *kept}))
    source = shlex.quote(f"{place or '.'}[{wanted}]")
    return f"{installer} {source}", "" if place else " in its clone"


def _installer_of(prefix: str, *, is_editable: bool) -> str:
    """Return the program that installs into an environment: that of uv's tools, that of pipx, or
    pip's.
    """
    below = f"{prefix}/".replace("\\", "/")
    editable = " -e" * is_editable
    if "/uv/tools/" in below:
        return f"uv tool install{editable}"
    if "/pipx/" in below:
        return f"pipx install --force{editable}"
    pip = f"{below}bin/pip"
    return f"{pip if os.path.exists(pip) else 'pip'} install{editable}"


def _origin() -> tuple[str, bool]:
    """Return the directory that Vespe was installed from, "" for none that is there still, and
    whether it is installed in the editable mode (PEP 610).
    """
    try:
        found = json.loads(metadata.distribution(_NAME).read_text("direct_url.json") or "{}")
        parts = urlsplit(str(found["url"]))
        is_editable = found["dir_info"]["editable"] is True if found["dir_info"] else False
    except (metadata.PackageNotFoundError, OSError, ValueError, LookupError, TypeError):
        return "", False  # installed from somewhere else, or its record is damaged
    place = unquote(parts.path)
    is_there = parts.scheme == "file" and os.path.isfile(os.path.join(place, "pyproject.toml"))
    return (place, is_editable) if is_there else ("", False)


def _present() -> set[str]:
    """Return the extras of which everything is installed."""
    found: dict[str, bool] = {}
    try:
        about = metadata.metadata(_NAME)
        extras, needs = about.get_all("Provides-Extra") or (), about.get_all("Requires-Dist") or ()
    except metadata.PackageNotFoundError:
        return set()
    for text in needs:
        try:
            need = Requirement(text)
        except InvalidRequirement:
            continue
        marker = need.marker
        if marker is None or marker.evaluate({"extra": ""}):
            continue
        for extra in extras:
            if marker.evaluate({"extra": extra}):
                found[extra] = found.get(extra, True) and _is_installed(need)
    return {extra for extra, is_whole in found.items() if is_whole}


def _is_installed(need: Requirement) -> bool:
    try:
        version = metadata.version(need.name)
    except metadata.PackageNotFoundError:
        return False
    return need.specifier.contains(version, prereleases=True)
