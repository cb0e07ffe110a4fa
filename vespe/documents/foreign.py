"""JSON and YAML that somebody else wrote, read leniently within bounds: what a person means is
taken, not how well it is written.
"""

import json

from vespe.documents.nesting import deeper_than
from vespe.documents.safe_yaml import MAX_FOREIGN_DEPTH, parse_any_yaml
from vespe.errors import InvalidDocument
from vespe.models import JsonValue

_MAX_YAML = 12 * 1024 * 1024
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def parse_foreign(data: bytes, *, path: str = "") -> JsonValue:
    """Read JSON, or else YAML: a byte order mark, UTF-16, a key that comes twice (the last counts),
    NaN (null) and aliases pass.

    Raises InvalidDocument, with the line where it is known, for what is neither, is no text, or is
    nested too deep.
    """
    text = _text(data, path)
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
        except json.JSONDecodeError as error:
            # Flow collections of YAML begin as JSON does; what is wrong is said of JSON, which it
            # looks like.
            try:
                return parse_any_yaml(text, path=path)
            except InvalidDocument:
                raise InvalidDocument(
                    f"is not JSON: {error.msg}", path=path, line=error.lineno, column=error.colno
                ) from None
        except (RecursionError, ValueError) as error:
            reason = (
                "is nested too deep"
                if isinstance(error, RecursionError)
                else f"is not JSON: {error}"
            )
            raise InvalidDocument(reason, path=path) from None
        if deeper_than(value, MAX_FOREIGN_DEPTH):
            raise InvalidDocument(f"is nested deeper than {MAX_FOREIGN_DEPTH} levels", path=path)
        return value
    if len(data) > _MAX_YAML:
        raise InvalidDocument(
            f"is YAML of more than {_MAX_YAML} bytes, which would take long to read",
            path=path,
            hint="save it as JSON",
        )
    return parse_any_yaml(text, path=path)


def _text(data: bytes, path: str) -> str:
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidDocument(
            f"is not text in UTF-8: byte 0x{data[error.start]:02x}", path=path, line=line
        ) from None


def _finite(text: str) -> float | None:
    number = float(text)
    return None if number in (float("inf"), float("-inf")) else number
