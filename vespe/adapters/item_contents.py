"""The contents of an item, at an API whose turns are lists of items, as parts of the inner format,
and back.

What is left of a content without the words of its part is its entry, kept beside the message where
it holds more than its type.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from vespe.adapters.content_parts import readable_parts
from vespe.adapters.messages import copied, is_empty, kind, refuse, said
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """How one API says contents.

    `words` are by the type of a content the keys that its inner part says, `inner` gives this part,
    or None where there is none, and `outer` the content of a part that stands in the place of one
    of a type. `text` is the type of a bare text, `alike` are the types of one meaning. `single`
    says that a content need not stand in a list.
    """

    words: Mapping[str, tuple[str, ...]]
    inner: Callable[[JsonObject], JsonObject | None]
    outer: Callable[[JsonObject, int, str], JsonObject]
    text: str
    alike: Collection[str] = ()
    single: bool = False

    def to_parts(self, content: JsonValue, index: int) -> tuple[list[JsonObject], list[JsonObject]]:
        """Return the inner parts of an item's content, and an entry for each content of it; one
        that the inner format cannot say is its entry whole.
        """
        parts: list[JsonObject] = []
        entries: list[JsonObject] = []
        inner, all_words = self.inner, self.words
        for place, given in enumerate(self._listed(content, index)):
            if not isinstance(given, dict):
                given = self._bare(given, index, place)
            part = inner(given)
            if part is None:
                if not self.is_open(given):
                    entries.append(copied(given, index))
                continue
            parts.append(copied(part, index))
            entries.append(rest_of_item(given, all_words[given["type"]], index))
        return parts, entries

    def filled(
        self, entries: JsonValue, waiting: Iterator[JsonObject], index: int
    ) -> list[JsonObject]:
        """Return the contents of an item: its entries with the words of the inner parts that wait,
        in order; an entry whose part is gone is left out.
        """
        made: list[JsonObject] = []
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, dict):
                continue
            if not self.is_open(entry):
                made.append(copied(entry, index))
            elif (part := next(waiting, None)) is not None:
                own, sort = self.outer(part, index, entry["type"]), entry["type"]
                same = own["type"] == sort or (own["type"] in self.alike and sort in self.alike)
                made.append({**own, **copied(entry, index)} if same else own)
        return made

    def of_message(self, message: JsonObject, entries: JsonValue, index: int) -> list[JsonObject]:
        """Return the contents of what somebody else than the model says, as they were."""
        waiting = (part for part in readable_parts(message, index) if not is_empty(part))
        made = self.filled(entries, waiting, index)
        return [*made, *(self.outer(part, index, "") for part in waiting)]

    def is_open(self, entry: JsonObject) -> bool:
        """Whether an entry stands for a part of the inner message."""
        words = self.words.get(str(entry.get("type")))
        return words is not None and not any(word in entry for word in words)

    def _listed(self, content: JsonValue, index: int) -> Sequence[JsonValue]:
        if self.single and (content is None or isinstance(content, (dict, str))):
            content = [] if content is None else [content]
        if not isinstance(content, (list, tuple)):
            reason = f"`content` must be a string or a list, not {kind(content)}"
            refuse(index, reason, pointer="/content")
        return content

    def _bare(self, part: JsonValue, index: int, place: int) -> JsonObject:
        if not isinstance(part, str):
            reason = f"a part of `content` must be an object, not {kind(part)}"
            refuse(index, reason, pointer=f"/content/{place}")
        return {"type": self.text, "text": part}


def rest_of_item(item: JsonObject, words: Collection[str], index: int) -> JsonObject:
    """Return a copy of an item without these keys."""
    return {
        key: said(value) if isinstance(value, str) else copied(value, index)
        for key, value in item.items()
        if key not in words
    }


def other_content(part: JsonObject, index: int) -> JsonObject:
    """Return a part of a type that only a compatible server knows, as it came."""
    if not isinstance(part.get("type"), str):
        reason = f"a part of `content` needs a `type`, a string, not {kind(part.get('type'))}"
        refuse(index, reason, pointer="/content")
    made: JsonObject = copied(part, index)
    return made
