"""The inputs of `vespe batch`: lines of JSON or rows of CSV, read one at a time; a broken one
becomes an error of its own.
"""

import contextlib
import csv
import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from vespe import defaults, errors
from vespe.cli.tool.arguments import parse_typed
from vespe.documents import strict_json
from vespe.features.batch.items import Item
from vespe.features.batch.outcomes_file import without_repeats
from vespe.models import Failure, JsonObject, JsonValue, Tool

_MAX_LINE: Final = defaults.MAX_ARGUMENT_BYTES


@dataclass
class Inputs:
    """The inputs of a batch: `size` is the file's in bytes (0 if not known), `read` how much of it
    the `given` inputs so far take.
    """

    source: BinaryIO
    tool: Tool
    is_csv: bool
    id_field: str | None = None
    size: int = 0
    read: int = field(default=0, init=False)
    given: int = field(default=0, init=False)

    def __enter__(self) -> "Inputs":
        return self

    def __exit__(self, *_: object) -> None:
        self.source.close()

    @property
    def total(self) -> float:
        """How many inputs there are, by what those so far take of the file; 0 if not known."""
        return self.given * max(self.size / self.read, 1.0) if self.size and self.read else 0

    def items(self) -> Iterator[Item]:
        """Yield an item for each input; an id that comes again, and a line that cannot be read, is
        an item with a failure.
        """
        for item in self._items():
            self.given += 1
            yield item

    def _items(self) -> Iterator[Item]:
        items = self._csv_items() if self.is_csv else self._json_items()
        if self.id_field is None:
            yield from items
            return
        for number, (item, repeated) in enumerate(without_repeats(items), 1):
            if repeated:
                failure = _failure(
                    "duplicate_id",
                    f"the id {strict_json.compact_json(item.id)} was already used: each id is "
                    "called once",
                )
                item = Item(f"line {number}", {}, failure)
            yield item

    def _json_items(self) -> Iterator[Item]:
        number = 0
        while line := self.source.readline(_MAX_LINE + 2):
            self.read += len(line)
            if len(line) > _MAX_LINE + 1:
                self._skip_line(line)
            if line.strip() or not line.endswith(b"\n"):
                number += 1
                yield self._item(number, lambda line=line: _object(line))  # type: ignore[misc]  # bound now, called at once

    def _skip_line(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self.source.readline(_MAX_LINE)
            self.read += len(line)

    def _csv_items(self) -> Iterator[Item]:
        rows = csv.reader(self._lines_of_text(), strict=True)
        try:
            header = next(rows, [])
        except csv.Error as error:
            raise errors.UsageError(
                f"the first line is not a header of CSV: {error}",
                hint="name the arguments in the first line",
            ) from None
        if not header or len(set(header)) < len(header) or "" in header:
            raise errors.UsageError(
                "the first line of the CSV must name each argument once", hint="city,days"
            )
        number = 0
        while True:
            number += 1
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield Item(
                    self._line_id(number),
                    {},
                    _failure("invalid_json", f"is not a row of CSV: {error}"),
                )
                continue
            yield self._item(number, lambda row=row: self._typed_row(header, row))  # type: ignore[misc]  # bound now, called at once

    def _lines_of_text(self) -> Iterator[str]:
        text = io.TextIOWrapper(self.source, encoding="utf-8-sig", errors="replace", newline="")
        try:
            for line in text:
                self.read += len(line.encode("utf-8"))
                yield line
        finally:
            with contextlib.suppress(ValueError):  # it is closed already
                text.detach()  # or it would close what is not its own

    def _typed_row(self, header: list[str], row: list[str]) -> JsonObject:
        if len(row) != len(header):
            raise ValueError(
                f"has {len(row)} cell{'' if len(row) == 1 else 's'}, and the header {len(header)}"
            )
        properties = self.tool.input_schema.get("properties")
        known = properties if isinstance(properties, dict) else {}
        return {
            name: parse_typed(text, known.get(name, {}), self.tool.input_schema)
            for name, text in zip(header, row, strict=True)
            if text
        }

    def _item(self, number: int, read: Callable[[], JsonObject]) -> Item:
        try:
            arguments = read()
            return (
                Item(number, arguments)
                if self.id_field is None
                else _with_id(arguments, self.id_field)
            )
        except (ValueError, errors.InvalidDocument) as error:
            return Item(
                self._line_id(number),
                {},
                _failure(
                    "invalid_json",
                    f"line {number} "
                    f"{error.reason if isinstance(error, errors.InvalidDocument) else error}",
                ),
            )

    def _line_id(self, number: int) -> int | str:
        """The id of a line that has none: its number, told apart from the ids that the input
        gives.
        """
        return number if self.id_field is None else f"line {number}"


def open_inputs(
    path: str, tool: Tool, *, id_field: str | None, is_csv: bool | None = None
) -> Inputs:
    """Open the inputs at a path, or stdin for `-`. Raises UsageError for what cannot be read."""
    csv_wanted = path.lower().endswith(".csv") if is_csv is None else is_csv
    if path == "-":
        return Inputs(sys.stdin.buffer, tool, csv_wanted, id_field)
    try:
        file = open(path, "rb")  # noqa: SIM115  # it is read for as long as the command runs
    except OSError as error:
        raise errors.UsageError(
            f"{path} cannot be read: {error.strerror}",
            hint="name a file of JSON lines or CSV, or - for stdin",
        ) from None
    return Inputs(file, tool, csv_wanted, id_field, os.fstat(file.fileno()).st_size)


def _object(line: bytes) -> JsonObject:
    value = strict_json.parse_json(line, limit=_MAX_LINE)
    if not isinstance(value, dict):
        raise ValueError("is not an object of arguments")
    return value


def _with_id(arguments: JsonObject, name: str) -> Item:
    id: JsonValue = arguments.pop(name, None)
    if not isinstance(id, (str, int)) or isinstance(id, bool):
        raise ValueError(f"needs a string or an integer as {name!r}, which is its id")
    return Item(id, arguments)


def _failure(code: str, message: str) -> Failure:
    return Failure(code=code, message=message, retryable=False)
