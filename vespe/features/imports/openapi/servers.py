"""Where an operation is sent: the first server that can be called, with the defaults of its
variables.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from vespe.errors import Refused
from vespe.features.imports.openapi.documents import At, Documents, is_address
from vespe.http.addresses import parse_url
from vespe.lazy import urls

_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
NOWHERE: Final = "http://localhost"
"""Where a description sends its calls that names no host: nobody reaches it who has not allowed it
in their configuration.
"""


class Server(NamedTuple):
    """A URL without a slash at its end; or why there is none. `note` is for whoever imports."""

    url: str
    problem: str = ""
    note: str = ""


def server_of(documents: Documents, *, levels: tuple[At, ...], given: str | None) -> Server:
    """Return the server of an operation: that of the operation, its path or the description,
    whichever says one first.
    """
    if given is not None:
        return _checked(given)
    if (root := documents.root).get("swagger").value is not None and not any(
        level.get("servers").value for level in levels
    ):
        return _older(root, levels[0], documents.base)
    found = [Server("", "none of its servers is one")]
    for level in levels:
        listed = list(level.get("servers").items())
        if listed:
            found = [_read(at, documents.base) for _, at in listed]
            break
    else:
        found = [_absolute("/", documents.base)]
    usable = [one for one in found if not one.problem]
    return usable[0] if usable else found[0]


def _older(root: At, operation: At, base: str) -> Server:
    """Return the server of a description before 3.0: host, basePath and the best of its schemes."""
    schemes = operation.get("schemes").value or root.get("schemes").value
    named = (
        [one for one in schemes if one in ("http", "https")] if isinstance(schemes, list) else []
    )
    if isinstance(schemes, list) and schemes and not named:
        return Server("", f"it is called by {', '.join(map(str, schemes))}, which is not HTTP")
    path = f"/{root.text('basePath').strip('/')}" if root.text("basePath").strip("/") else ""
    host = root.text("host")
    if not host:
        return _absolute(path or "/", base)
    scheme = "https" if "https" in named or not named else "http"
    return _checked(f"{scheme}://{host}{path}")


def _read(at: At, base: str) -> Server:
    variables = at.get("variables")
    missing: list[str] = []

    def value(found: re.Match[str]) -> str:
        said = variables.get(found[1]).value
        said = said if isinstance(said, dict) else {}
        default: Any = said.get("default")
        if default is None and isinstance(said.get("enum"), list) and said["enum"]:
            default = said["enum"][0]
        if default is None:
            missing.append(found[1])
        return str(default if default is not None else "")

    url = _VARIABLE.sub(value, at.text("url").strip())
    if missing:
        return Server(
            "",
            f"its server {at.text('url')} has the variable {missing[0]} without a default; "
            "--server URL says where it is",
        )
    changed = ", ".join(sorted(set(_VARIABLE.findall(at.text("url")))))
    made = _absolute(url, base)
    return (
        made._replace(
            note=f"{at.text('url')} is called with the default of {changed}; "
            "--server URL names another"
        )
        if changed
        else made
    )


def _absolute(url: str, base: str) -> Server:
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", url) and not re.match(
        r"https?://", url, re.IGNORECASE
    ):
        return Server("", f"its server {url} is not HTTP")
    if is_address(url):
        return _checked(url)
    if is_address(base):
        return _checked(urls.urljoin(base, url))
    if re.match(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::[0-9]+)?(?:/|\Z)", url):
        return _checked(f"https://{url}")  # a host alone, as many write it
    path = f"/{url.removeprefix('//').strip('/')}".rstrip("/")
    return Server(
        NOWHERE + path,
        note=f"the description names no host: {NOWHERE} stands for it; "
        "--server URL says where the API is",
    )


def _checked(url: str) -> Server:
    bare = url.partition("#")[0].partition("?")[0].rstrip("/")
    try:
        parse_url(bare)
    except Refused as error:
        return Server("", f"its server {url[:200]} cannot be called: {error}")
    return Server(bare)


def hosts_of(found: list[str]) -> Iterator[str]:
    """Return `host` or `host:port` of each URL, once, as kit_config.json lists them."""
    yield from dict.fromkeys(parse_url(url).authority for url in found)
