"""Which variants a schema with a discriminator has: those that it lists, and those that extend it
by `allOf`.
"""

from collections.abc import Iterator
from typing import Any

from vespe.features.imports.openapi.documents import At, Documents, Unresolved


class Variants:
    """Answers of the schemas of one description; who extends whom is found once."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._mappings: dict[int, dict[str, list[str]]] = {}
        self._extending: dict[int, list[tuple[str, At]]] | None = None

    def property_of(self, at: At) -> str:
        """Return the name of the property that tells the variants apart, or an empty string; before
        3.0 it is written as a string.
        """
        said = at.get("discriminator")
        return said.value if isinstance(said.value, str) else said.text("propertyName")

    def values(self, at: At, reference: str) -> list[str]:
        """Return the values of the discriminator that stand for a variant: those of `mapping`, else
        the schema's own name.
        """
        mapping = at.get("discriminator").get("mapping").value
        named = reference.rpartition("/")[2]
        known = self._mapped(mapping) if isinstance(mapping, dict) else {}
        found = dict.fromkeys((*known.get(named, ()), *known.get(reference, ())))
        return list(found) or [
            named.partition("#")[0].removesuffix(".yaml").removesuffix(".yml").removesuffix(".json")
        ]

    def _mapped(self, mapping: dict[str, Any]) -> dict[str, list[str]]:
        """Return the values of a mapping by what they lead to, and by its bare name; made once for
        each.
        """
        if id(mapping) not in self._mappings:
            made: dict[str, list[str]] = {}
            for value, to in mapping.items():
                for key in (
                    dict.fromkeys((to, to.rpartition("/")[2])) if isinstance(to, str) else ()
                ):
                    made.setdefault(key, []).append(value)
            self._mappings[id(mapping)] = made
        return self._mappings[id(mapping)]

    def says(self, at: At, name: str) -> bool:
        """Whether a variant says itself which value of the property is its own."""
        parts = [self._looked(at)]
        parts += [self._looked(part) for _, part in parts[0].get("allOf").items()]
        for part in parts:
            said = part.get("properties").get(name).value
            required = part.value.get("required") if isinstance(part.value, dict) else None
            if (
                isinstance(said, dict)
                and said.keys() & {"const", "enum"}
                and isinstance(required, list)
                and name in required
            ):
                return True
        return False

    def has_children(self, at: At) -> bool:
        """Whether a schema tells its variants apart and lists none: then they are those that extend
        it.
        """
        listed = isinstance(at.value, dict) and (at.value.get("oneOf") or at.value.get("anyOf"))
        return bool(self.property_of(at)) and not listed and bool(self._known().get(id(at.value)))

    def children(self, at: At) -> list[tuple[str, At]]:
        """Return the variants that extend a schema, over several steps too: a reference to each,
        and from where it leads there.
        """
        found: dict[int, tuple[str, At]] = {}
        waiting: list[Any] = [at.value]
        for value in waiting:
            for reference, child in self._known().get(id(value), ()):
                if id(child.value) not in found and child.value is not at.value:
                    found[id(child.value)] = (reference, At(child.value, child.base))
                    waiting.append(child.value)
        return list(found.values())

    def _known(self) -> dict[int, list[tuple[str, At]]]:
        if self._extending is None:
            self._extending = {}
            for reference, child in self._schemas():
                for _, part in child.get("allOf").items():
                    if isinstance(part.value, dict) and isinstance(part.value.get("$ref"), str):
                        self._extending.setdefault(id(self._looked(part).value), []).append(
                            (reference, child)
                        )
        return self._extending

    def _schemas(self) -> Iterator[tuple[str, At]]:
        root = self._documents.root
        for name, at in root.get("components").get("schemas").items():
            yield f"#/components/schemas/{_escaped(name)}", at
        for name, at in root.get("definitions").items():
            yield f"#/definitions/{_escaped(name)}", at

    def _looked(self, at: At) -> At:
        try:
            return self._documents.follow(at)
        except Unresolved:
            return At({}, at.base)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
