"""Where an HTTP request may go: strict URLs, and the addresses that no tool reaches unless the user
lists its host.
"""

import functools
import re
from collections.abc import Collection

from vespe.errors import AddressRefused, Refused
from vespe.lazy import ipaddress, pattern
from vespe.records import dataclass

_SHAPE = pattern(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.DOTALL)
_AUTHORITY = pattern(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")
_NUMBER = pattern(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_NOT_IN_A_TARGET = pattern(r"[^!$%&'()*+,\-./0-9:;=?@A-Z_a-z~\[\]]")
_PORTS = {"http": 80, "https": 443}
_MAX_NAME, _MAX_LABEL, _MAX_PORT = 253, 63, 65535

_DENIED = (
    ("127.0.0.0/8", "loopback"),
    ("0.0.0.0/8", "this machine (0.0.0.0/8)"),
    ("10.0.0.0/8", "private"),
    ("172.16.0.0/12", "private"),
    ("192.168.0.0/16", "private"),
    (
        "100.64.0.0/10",
        "shared by a provider's network (100.64.0.0/10, with Alibaba's metadata service)",
    ),
    ("169.254.0.0/16", "link-local, where clouds keep their metadata service"),
    ("168.63.129.16/32", "Azure's metadata service"),
    ("192.0.0.0/24", "reserved for protocols (with Oracle's metadata service)"),
    ("198.18.0.0/15", "reserved for benchmarks"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved or broadcast"),
    ("::1/128", "loopback"),
    ("::/128", "this machine (::)"),
    ("fc00::/7", "private (with Amazon's and Google's metadata services)"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
    # Where in it the IPv4 address stands is each network's own choice (RFC 8215), so it cannot be
    # judged by that.
    ("64:ff9b:1::/48", "a translation prefix for local use"),
    ("2001::/32", "a Teredo tunnel"),
)
_GLOBAL_UNICAST = "2000::/3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """An http or https URL taken apart: `host` lowercased and without brackets, `target` the path
    and query as sent.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> tuple[str, str, int]:
        """What two URLs share when credentials may pass from one to the other."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The host, and the port where it is not the scheme's own, as a Host header says them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse_url(text: str) -> Url:
    """Take a URL apart by a narrower grammar than any resolver's, so that none can read another
    host into it.

    Raises Refused for another scheme, a user before the host, a host beyond ASCII (its `xn--` form
    is fine), and AddressRefused for an address in octal, hexadecimal, one number or any other form
    than four decimals.
    """
    shape = _SHAPE.fullmatch(text)
    if shape is None or shape[1].lower() not in _PORTS:
        raise Refused(f"{text!r} is refused: it is not an http:// or https:// URL")
    scheme, authority = shape[1].lower(), _AUTHORITY.fullmatch(shape[2])
    if authority is None:
        _, at, host = shape[2].rpartition("@")
        shown = f"***@{host}" if at else shape[2]
        raise Refused(f"the host {shown!r} is refused: {_what_is_wrong(shape[2])}")
    port = int(authority[3] or _PORTS[scheme])
    if not 0 < port <= _MAX_PORT:
        raise Refused(f"the host {shape[2]!r} is refused: {port} is not a port")
    host = _address(authority[1]) if authority[1] else _name(authority[2])
    return Url(
        scheme=scheme,
        host=host.lower(),
        port=port,
        target=encode_target((shape[3] or "/") + (shape[4] or "")),
    )


def encode_target(text: str) -> str:
    """Percent-encode what cannot stand in a request's target; `%` and reserved characters stay as
    they are.
    """
    return _NOT_IN_A_TARGET.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text
    )


def is_address(host: str) -> bool:
    """Tell an address from a name, for a host that `parse_url` accepted."""
    return ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]) is not None


def is_listed(host: str, port: int, allow_hosts: Collection[str]) -> bool:
    """Tell whether the user allows this host, as the URL writes it, lowercased; an entry without a
    port allows every port.
    """
    forms = {host, f"{host}:{port}"} if ":" not in host else {host, f"[{host}]", f"[{host}]:{port}"}
    return any(entry.lower() in forms for entry in allow_hosts)


def why_denied(address: str) -> str | None:
    """Say what an IPv4 or IPv6 address is where tools may not reach it, or None where it is public.

    An IPv6 address that carries an IPv4 address (mapped, compatible, translated, NAT64, 6to4,
    ISATAP) is judged by that.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "no address"
    for network, why in _networks():
        if parsed in network:
            return why
    if isinstance(parsed, ipaddress.IPv4Address):
        return None
    inner = find_ipv4(address)
    if inner is not None:
        why_inner = why_denied(inner)
        return why_inner and f"{inner} in IPv6, which is {why_inner}"
    return None if parsed in ipaddress.ip_network(_GLOBAL_UNICAST) else "no global address"


def find_ipv4(address: str) -> str | None:
    """Return the IPv4 address that a valid IPv6 address carries, or None."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    number = int(parsed) if parsed.version == 6 else 1 << 127
    high, low = number >> 32, number & 0xFFFFFFFF
    if high in (0, 0xFFFF, 0xFFFF_0000, 0x64_FF9B << 64) or high & 0xFDFFFFFF == 0x5EFE:
        return str(ipaddress.IPv4Address(low))
    return (
        str(ipaddress.IPv4Address(number >> 80 & 0xFFFFFFFF)) if number >> 112 == 0x2002 else None
    )


@functools.cache
def _networks() -> "list[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, str]]":
    return [(ipaddress.ip_network(network), why) for network, why in _DENIED]


def _address(text: str) -> str:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        raise Refused(f"the host '[{text}]' is refused: it is no IPv6 address") from None
    return text


def _name(text: str) -> str:
    labels = text.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _decimal(text)
    if len(text) > _MAX_NAME or not all(0 < len(label) <= _MAX_LABEL for label in labels):
        raise Refused(f"the host {text!r} is refused: it is not a host name")
    return text


def _decimal(text: str) -> str:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        why = "an address in an unusual form, or not an address"
        raise AddressRefused(
            text, address=text, why=why, hint="write it as four decimal numbers"
        ) from None
    return text


def _what_is_wrong(authority: str) -> str:
    if not authority.isascii():
        return "it has characters beyond ASCII; write an international name in its xn-- form"
    if "@" in authority:
        return "a user before the host can hide where a URL leads; use `auth`"
    return "it is not a host name or address with an optional port"
