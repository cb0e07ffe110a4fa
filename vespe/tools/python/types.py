"""The types of Python's standard library (and a few of pydantic) that JSON has a form for: tables,
nothing else.
"""

from collections.abc import Mapping

from vespe.models import JsonObject

_STRINGS = (
    "str pathlib.Path pathlib.PurePath os.PathLike typing.Text typing.AnyStr typing.LiteralString"
)
_FORMS: tuple[tuple[JsonObject, str], ...] = (
    ({"type": "string"}, _STRINGS),
    ({"type": "integer"}, "int typing.SupportsInt typing.SupportsIndex"),
    ({"type": "number"}, "float typing.SupportsFloat numbers.Number numbers.Real"),
    ({"type": "boolean"}, "bool"),
    ({"type": "null"}, "None types.NoneType"),
    ({}, "object typing.Any"),
    ({"type": ["number", "string"]}, "decimal.Decimal"),
    ({"type": "string", "format": "date-time"}, "datetime.datetime"),
    ({"type": "string", "format": "date"}, "datetime.date"),
    ({"type": "string", "format": "time"}, "datetime.time"),
    ({"type": "string", "format": "duration"}, "datetime.timedelta"),
    ({"type": "string", "format": "uuid"}, "uuid.UUID"),
    ({"type": "string", "format": "ipv4"}, "ipaddress.IPv4Address"),
    ({"type": "string", "format": "ipv6"}, "ipaddress.IPv6Address"),
    ({"type": "string", "contentEncoding": "base64"}, "bytes bytearray memoryview"),
    ({"type": "string", "format": "email"}, "pydantic.EmailStr"),
    ({"type": "string", "format": "uri"}, "pydantic.AnyUrl pydantic.HttpUrl pydantic.AnyHttpUrl"),
    ({"type": "integer", "exclusiveMinimum": 0}, "pydantic.PositiveInt"),
    ({"type": "integer", "minimum": 0}, "pydantic.NonNegativeInt"),
    ({"type": "number", "exclusiveMinimum": 0}, "pydantic.PositiveFloat"),
    ({"type": "number", "minimum": 0}, "pydantic.NonNegativeFloat"),
)


def _typing(names: str) -> list[str]:
    return [f"typing.{name}" for name in names.split()]


PLAIN: Mapping[str, JsonObject] = {
    name: schema for schema, names in _FORMS for name in names.split()
}
UNCONVERTED = (
    "datetime.timedelta",
    "memoryview",
    "pydantic.AnyUrl",
    "pydantic.HttpUrl",
    "pydantic.AnyHttpUrl",
)
"""Types that a call does not make from JSON: the function is given the JSON value, and the notes
say so.
"""
LOOSE_FORMATS = ("date-time", "time", "duration")
"""What Python writes of these (no time zone, fractions of a second) is not always what the format
allows.
"""
ARRAYS = frozenset(
    (
        "list",
        "collections.deque",
        *_typing("List Deque Sequence MutableSequence Iterable Collection Reversible Container"),
        *_typing("Iterator Generator AsyncIterator AsyncIterable AsyncGenerator"),
    )
)
SETS = frozenset(("set", "frozenset", *_typing("Set FrozenSet AbstractSet MutableSet")))
TUPLES = ("tuple", "typing.Tuple")
OBJECTS = frozenset(
    (
        "dict",
        "collections.defaultdict",
        "collections.OrderedDict",
        "types.MappingProxyType",
        *_typing("Dict Mapping MutableMapping DefaultDict OrderedDict"),
    )
)
COUNTERS = ("collections.Counter", "typing.Counter")
WRAPPERS = frozenset(
    (
        "dataclasses.InitVar",
        *_typing("Awaitable Coroutine Required NotRequired ReadOnly Final ClassVar Unpack"),
    )
)
"""What says something about a variable or a result and nothing about its value; the last argument
is the type.
"""
