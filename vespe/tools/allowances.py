"""What a kit states that its tools may use, in its kit_config.json, and what of a tool goes beyond
that.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from vespe.errors import Refused
from vespe.lazy import pattern
from vespe.records import dataclass
from vespe.tool_types import TYPES, type_in, type_of

KEYS: Final = ("allow_types", "allow_hosts", "secrets")
_HOST: Final = pattern(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KitLimits:
    """What a kit's tools may use: types of implementation, hosts (`host`, for any port, or
    `host:port`), names of secrets.

    None: the kit states nothing, and nothing is beyond it.
    """

    types: tuple[str, ...] | None = None
    hosts: tuple[str, ...] | None = None
    secrets: tuple[str, ...] | None = None


def limits_of(document: Mapping[str, Any]) -> KitLimits:
    """Return what a kit_config.json states; a value of the wrong type, which `wrong_limits` tells
    of, allows nothing.
    """
    types, hosts, secrets = (_stated(document, key) for key in KEYS)
    return KitLimits(types=types, hosts=hosts, secrets=secrets)


def wrong_limits(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say what is wrong with the keys of a kit_config.json that limit its tools, as (JSON Pointer,
    what it must be).
    """
    for key in KEYS:
        value = document.get(key, [])
        if not isinstance(value, list):
            yield f"/{key}", f"must be a list, not {_described(value)}"
            continue
        for index, item in enumerate(value):
            if key == "secrets":
                from vespe.tools.secret_items import wrong_item

                yield from ((f"/{key}/{index}{at}", said) for at, said in wrong_item(item))
            elif not isinstance(item, str) or not _is(key, item):
                yield (
                    f"/{key}/{index}",
                    f"must be {_wanted(key)}, "
                    f"not {_short(item) if isinstance(item, str) else _described(item)}",
                )


def excess(config: Mapping[str, Any], limits: KitLimits) -> Iterator[tuple[str, str]]:
    """Say where a tool's config.json goes beyond what its kit states, as (JSON Pointer, sentence);
    never raises.
    """
    details = config.get("implementation_details")
    details = details if isinstance(details, dict) else {}
    kind = details.get("type")
    if limits.types is not None and isinstance(kind, str) and kind not in limits.types:
        yield (
            "/implementation_details/type",
            f"is of type {_short(kind)}, but its kit's `allow_types` has {_listed(limits.types)}",
        )
    if limits.hosts is not None:
        from vespe.http import addresses

        for pointer, host, port in _hosts(config, details):
            if not addresses.is_listed(host.lower(), port, limits.hosts):
                yield (
                    pointer,
                    f"reaches {_short(host)}, but its kit's `allow_hosts` has "
                    f"{_listed(limits.hosts)}",
                )
    secrets = config.get("secrets")
    for index, item in enumerate(
        secrets if limits.secrets is not None and isinstance(secrets, list) else ()
    ):
        name = item.get("name") if isinstance(item, dict) else item
        if name not in (limits.secrets or ()):
            yield (
                f"/secrets/{index}",
                f"needs the secret {_short(str(name))}, but its kit's `secrets` has "
                f"{_listed(limits.secrets or ())}",
            )


def _stated(document: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    if key not in document:
        return None
    value = document[key]
    if key == "secrets":
        from vespe.tools.secret_items import names_in

        return names_in(value)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def allowed_types() -> tuple[str, ...]:
    """Return the types that a kit can name in its `allow_types`."""
    return tuple(name for name in TYPES if type_of(name).in_allow_types)


def _short(text: str) -> str:
    from vespe.schemas.explain import short  # few kits need a sentence about a mistake

    return short(text)


def _described(value: object) -> str:
    from vespe.schemas.explain import describe  # as above

    return describe(value)


def _wanted(key: str) -> str:
    if key == "allow_types":
        return "one of " + ", ".join(allowed_types())
    return "a host or host:port"


def _is(key: str, item: str) -> bool:
    if key == "allow_types":
        return item in TYPES and type_of(item).in_allow_types
    return _HOST.fullmatch(item) is not None


def _hosts(config: Mapping[str, Any], details: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Return each host that a tool says it reaches, with the pointer to it and its port; 0 where it
    names none.
    """
    from vespe.tools.permissions import stated_hosts

    kind = type_in(details)
    if kind is not None and kind.in_allow_types and (address := kind.address({**details})):
        pointer, url = address
        yield f"/implementation_details{pointer}", *host_and_port(url)
    for pointer, host in stated_hosts(config):
        yield pointer, *host_and_port(str(host))


def host_and_port(text: str) -> tuple[str, int]:
    """Return the host and the port of a URL, or of `host` and `host:port`; 0 where none is said.

    What is neither is a host of that name, which no list has.
    """
    if "://" in text:
        from vespe.http import addresses

        try:
            parsed = addresses.parse_url(text)
        except Refused:
            return text, 0
        return parsed.host, parsed.port
    name, _, port = text.rpartition(":") if re.search(r"[^:]:[0-9]+\Z", text) else (text, "", "0")
    return name, int(port)


def _listed(allowed: tuple[str, ...]) -> str:
    return ", ".join(allowed) or "none"
