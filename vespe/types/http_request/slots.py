"""The slots of an http_request tool, filled with one call's inputs."""

from collections.abc import Mapping
from typing import Any, Final

from vespe.models import JsonObject, JsonValue, Tool
from vespe.tools import templates

ABSENT: Final = object()
"""What a text becomes that names an absent input; null is a value."""


class Slots:
    """Fills the templates of a tool. Without `secrets`, `${env:NAME}` stays in its places, to be
    shown.
    """

    def __init__(self, tool: Tool, inputs: JsonObject, secrets: Mapping[str, str] | None) -> None:
        self.inputs, self.secrets = inputs, secrets
        self._names = templates.input_names(tool.input_schema)

    def parse(self, text: str) -> templates.Template:
        """Read a template over the tool's inputs."""
        return templates.parse(text, self._names)

    def fill(self, text: str) -> str | None:
        """Fill one text; None where it names an absent input."""
        return self.parse(text).render(self.inputs, secrets=self.secrets)

    def fill_secrets(self, text: str) -> str:
        """Fill a text that takes secrets alone, such as a credential: braces in it are itself."""
        return templates.parse(text, ()).render({}, secrets=self.secrets) or ""

    def repeated(self, text: str) -> list[JsonValue] | None:
        """Return the items where the text is one whole slot whose value is a list, else None."""
        whole = self.parse(text).whole
        value = self.inputs.get(whole) if whole else None
        return value if isinstance(value, list) else None

    def texts(self, value: JsonValue) -> list[str]:
        """Return the texts of a query or form value: none for an absent input, one for each item of
        a list.
        """
        if isinstance(value, list):
            return [text for item in value for text in self.texts(item)]
        if not isinstance(value, str):
            return [templates.value_text(value)]
        items = self.repeated(value)
        if items is not None:
            return [templates.value_text(item) for item in items]
        filled = self.fill(value)
        return [] if filled is None else [filled]

    def structure(self, value: JsonValue) -> Any:
        """Fill a JSON structure: a string that is one whole slot becomes the input itself, with its
        JSON type.

        Members and items that name an absent input are left out; an absent root gives ABSENT.
        """
        if isinstance(value, dict):
            members = {key: self.structure(item) for key, item in value.items()}
            return {key: item for key, item in members.items() if item is not ABSENT}
        if isinstance(value, list):
            return [item for item in map(self.structure, value) if item is not ABSENT]
        if not isinstance(value, str):
            return value
        whole = self.parse(value).whole
        if whole:
            return self.inputs.get(whole, ABSENT)
        filled = self.fill(value)
        return ABSENT if filled is None else filled
