"""OpenAPI's schemas, of every version, as JSON Schema 2020-12 for what is sent: references gathered
into `$defs`, within bounds.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from vespe.documents import strict_json
from vespe.features.imports.made import plain, short
from vespe.features.imports.openapi import keywords
from vespe.features.imports.openapi.documents import At, Documents, Unresolved
from vespe.features.imports.openapi.variants import Variants
from vespe.models import JsonObject

MAX_DEPTH: Final = 22
"""Of one schema without its references: 32 subschemas and 64 levels of JSON are what a tool may
have.
"""
_MAX_SUBSCHEMAS: Final = 800
_MAX_BYTES: Final = 180 * 1024
_MAX_TOTAL: Final = 20_000
"""Subschemas in the definitions of all tools together; those that come later are given _FEW each,
within _SMALL bytes.
"""
_FEW, _SMALL = 40, 16 * 1024
_MAX_TEXT: Final = 400
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE: Final = (
    "not",
    "if",
    "then",
    "else",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "contains",
    "unevaluatedItems",
)
_NAMED: Final = ("properties", "patternProperties", "dependentSchemas")
_PREFIX: Final = "#/$defs/"


@dataclass(slots=True, kw_only=True)
class Converted:
    """One schema made: what it refers to by name, what it weighs in subschemas and bytes, and what
    of it could not be said.
    """

    schema: Any = None
    refers: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    subschemas: int = 0
    size: int = 0


class Schemas:
    """Converts the schemas of one description; what is referred to is converted once, whatever the
    number of tools that need it.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._variants = Variants(documents)
        self._names: dict[tuple[int, bool], str] = {}
        self._taken: set[str] = set()
        self._waiting: list[tuple[str, At, bool]] = []
        self._made: dict[str, Converted] = {}
        self._kept: list[Any] = []
        self._spent = 0

    def convert(self, at: At) -> Converted:
        """Return a schema for what a call sends: members that only a server may set are left out of
        it.
        """
        made = Converted()
        made.schema = self._schema(at, made, 1)
        return made

    def definitions(self, needed: Iterable[str]) -> tuple[JsonObject, list[str]]:
        """Return `$defs` for the names, with all that they refer to, and notes; what does not fit
        is left open.
        """
        found: JsonObject = {}
        notes: dict[str, None] = {}
        subschemas = size = 0
        most, largest = (
            (_MAX_SUBSCHEMAS, _MAX_BYTES) if self._spent < _MAX_TOTAL else (_FEW, _SMALL)
        )
        waiting = list(needed)
        for name in waiting:
            if name in found:
                continue
            made = self._definition(name)
            subschemas, size = subschemas + made.subschemas, size + made.size
            if subschemas > most or size > largest:
                found[name] = {
                    "description": "Not described here: the whole schema is too large for a tool."
                }
                subschemas, size = subschemas - made.subschemas + 1, size - made.size + 100
                notes["its schema is too large for a tool: some of its parts are left open"] = None
                continue
            found[name] = made.schema
            notes |= made.notes
            waiting += made.refers
        self._spent += subschemas
        return dict(sorted(found.items())), list(notes)

    def kinds(self, at: At) -> set[str]:
        """Return the JSON types that a schema allows, as far as it says; an empty set stands for
        any.
        """
        return keywords.kinds(self._looked(at))

    def resolved(self, at: At) -> At:
        """Return a schema through its references; one that leads nowhere is as good as empty."""
        return self._looked(at)

    def _looked(self, at: At) -> At:
        try:
            return self._documents.follow(at)
        except Unresolved:
            return At({}, at.base)

    def _definition(self, name: str) -> Converted:
        while name not in self._made:
            waiting_name, at, poly = self._waiting.pop()
            made = self._made[waiting_name] = Converted()
            made.schema = self._polymorphic(at, made) if poly else self._schema(at, made, 1)
            made.size = len(strict_json.compact_json(made.schema))
        return self._made[name]

    def _refer(self, at: At, reference: str, made: Converted, *, whole: bool) -> JsonObject:
        """Return a reference to what `at` refers to, which is converted when it is needed; `whole`
        is with its variants.
        """
        target = at
        for _ in range(32):  # a chain of references is one
            try:
                target = self._documents.resolve(reference, target.base)
            except Unresolved as error:
                made.notes[str(error)] = None
                return {}
            if (
                not isinstance(target.value, dict)
                or not isinstance(target.value.get("$ref"), str)
                or target.value.keys() & _SAYING
            ):
                break
            last, reference = reference, target.value["$ref"]
        else:
            made.notes[f"{last} refers only to itself"] = None
            return {}
        poly = whole and self._variants.has_children(target)
        key = (id(target.value), poly)
        if key not in self._names:
            stem = reference.rpartition("/")[2].partition("#")[0] or reference.rpartition("/")[2]
            self._names[key] = self._free(keywords.definition_name(stem))
            self._kept.append(target.value)  # an id is one only as long as its object lives
            self._waiting.append((self._names[key], target, poly))
        name = self._names[key]
        made.refers[name] = None
        return {"$ref": _PREFIX + name}

    def _free(self, name: str) -> str:
        number, made = 1, name
        while made in self._taken:
            number += 1
            made = f"{name}_{number}"
        self._taken.add(made)
        return made

    # One schema

    def _schema(
        self,
        at: At,
        made: Converted,
        depth: int,
        *,
        whole: bool = True,
        hidden: frozenset[str] = frozenset(),
    ) -> Any:
        value = at.value
        made.subschemas += 1
        if isinstance(value, bool):
            return value
        if not isinstance(value, dict):
            if value is not None:
                made.notes[
                    "one of its schemas is neither an object nor a boolean, so it allows any value"
                ] = None
            return {}
        if depth > MAX_DEPTH or made.subschemas > _MAX_SUBSCHEMAS:
            made.notes["its schema is nested too deep, or too large, and is left open below"] = None
            return {}
        reference = value.get("$ref", value.get("$dynamicRef", value.get("$recursiveRef")))
        if isinstance(reference, str):
            return self._with_siblings(
                at, self._refer(at, reference, made, whole=whole), made, depth
            )
        return self._plain(at, made, depth, hidden=hidden)

    def _with_siblings(
        self, at: At, referring: JsonObject, made: Converted, depth: int
    ) -> JsonObject:
        """Return a reference with what stands beside it: a description as it is, more as another
        part that applies.
        """
        description = short(plain(at.value.get("description")), most=_MAX_TEXT)
        more = {key: item for key, item in at.value.items() if key in _SAYING}
        rest = self._plain(At(more, at.base), made, depth) if more else {}
        if at.value.get("nullable") is True:
            referring = {"anyOf": [referring, {"type": "null"}]}
        both = {"allOf": [referring, rest]} if rest and referring else rest or referring
        return {**both, **({"description": description} if description else {})}

    def _plain(
        self, at: At, made: Converted, depth: int, *, hidden: frozenset[str] = frozenset()
    ) -> JsonObject:
        below: JsonObject = {}
        hidden = hidden | self._server_only(at)
        for key in _NAMED:
            members = {
                name: part
                for name, part in at.get(key).items()
                if isinstance(at.value.get(key), dict)
            }
            if members or isinstance(at.value.get(key), dict):
                kept = [name for name in members if key != "properties" or name not in hidden]
                below[key] = {name: self._schema(members[name], made, depth + 1) for name in kept}
        for key in _SINGLE:
            part = at.get(key)
            if isinstance(part.value, (dict, bool)):
                below[key] = self._schema(part, made, depth + 1)
        if isinstance(at.value.get("items"), list):
            below["prefixItems"] = [
                self._schema(part, made, depth + 1) for _, part in at.get("items").items()
            ]
        for key in _LISTS:
            if isinstance(at.value.get(key), list):
                every = key == "allOf"
                passed = hidden if every else frozenset[str]()
                below[key] = [
                    self._schema(part, made, depth + 1, whole=not every, hidden=passed)
                    for _, part in at.get(key).items()
                ]
        self._pin(at, below)
        return keywords.finished(at.value, below, hidden, made.notes)

    def _server_only(self, at: At) -> frozenset[str]:
        """Name the members that only a server may set, here and in the parts of `allOf`."""
        parts = [at, *(self._looked(part) for _, part in at.get("allOf").items())]
        described = [one.get("properties") for one in parts]
        named = (
            (name, part)
            for one in described
            if isinstance(one.value, dict)
            for name, part in one.items()
        )
        return frozenset(name for name, part in named if self._is_server_only(part))

    def _is_server_only(self, at: At) -> bool:
        if isinstance(at.value, dict) and at.value.get("readOnly") is True:
            return True
        looked = self._looked(at)
        return isinstance(looked.value, dict) and looked.value.get("readOnly") is True

    # What a discriminator says

    def _pin(self, at: At, below: JsonObject) -> None:
        """Say of each variant which value of the discriminator is its own, and that it must be
        sent.
        """
        name = self._variants.property_of(at)
        if not name:
            return
        for key in ("oneOf", "anyOf"):
            parts = list(at.get(key).items()) if key in below else []
            for index, (_, part) in enumerate(parts):
                reference = part.value.get("$ref") if isinstance(part.value, dict) else None
                if isinstance(reference, str) and (values := self._variants.values(at, reference)):
                    below[key][index] = _pinned(
                        below[key][index], name, values, says=self._variants.says(part, name)
                    )
        if not below.get("oneOf") and not below.get("anyOf"):
            below.setdefault("properties", {}).setdefault(name, {"type": "string"})

    def _polymorphic(self, at: At, made: Converted) -> JsonObject:
        """Return the variants of a schema that others extend by `allOf`."""
        name = self._variants.property_of(at)
        branches = []
        for reference, child in self._variants.children(at):
            made.subschemas += 1
            part = self._refer(child, reference, made, whole=False)
            branches.append(_pinned(part, name, self._variants.values(at, reference), says=False))
        description = short(plain(at.value.get("description")), most=_MAX_TEXT)
        return {**({"description": description} if description else {}), "anyOf": branches}


_SAYING: Final = frozenset(
    (
        *_LISTS,
        *_SINGLE,
        *_NAMED,
        "type",
        "enum",
        "const",
        "required",
        "pattern",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "format",
        "minItems",
        "maxItems",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "uniqueItems",
        "minProperties",
        "maxProperties",
    )
)
"""Keywords that say something of a value beside a `$ref`; before 3.1 nothing beside one counts, and
few wrote it there in vain.
"""


def _pinned(part: Any, name: str, values: list[str], *, says: bool) -> Any:
    if says or not values:
        return part
    value = {"const": values[0]} if len(values) == 1 else {"enum": values}
    return {"allOf": [part, {"properties": {name: value}, "required": [name]}]}


def names_in(schemas: Iterable[Converted]) -> Iterator[str]:
    """Return the names that several schemas refer to."""
    for one in schemas:
        yield from one.refers
