"""The `secrets` of a tool's config.json and of a kit_config.json: each is the name of an
environment variable, or an object that also says what the secret is for.

    {"name": "GITHUB_TOKEN", "description": "a token with repo scope",
     "docs_url": "https://github.com/settings/tokens"}

The words are an author's and end up in questions, errors and pages, so they are one printable line,
and the URL leads to http or https, in ASCII and without a user.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any, Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.lazy import pattern
from vespe.models import JsonObject, Tool
from vespe.records import dataclass
from vespe.schemas.explain import describe, short
from vespe.schemas.forms import UNPRINTABLE, Form, Found

MAX_DESCRIPTION: Final = 300
MAX_URL: Final = 500
_NAME: Final = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_URL: Final = pattern(r"https?://[A-Za-z0-9.\[\]:_-]+(?:[/?#][!-~]*)?")
_NAMED: Final = "the name of an environment variable"
_SAID: Final = f"one printable line of at most {MAX_DESCRIPTION} characters"
_LINKED: Final = f"an http or https URL of at most {MAX_URL} characters, without a user"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretItem:
    """A declared secret: its `name`, what it is for, and where to read how to get one; "" where the
    author does not say.
    """

    name: str
    description: str = ""
    docs_url: str = ""

    @property
    def words(self) -> str:
        """What is known of it on one line, "" for nothing."""
        return "; ".join(filter(None, (self.description, self.docs_url)))

    @property
    def text(self) -> str:
        """The name with what is known of it."""
        return f"{self.name} ({self.words})" if self.words else self.name

    def to_json(self) -> JsonObject:
        """Return it as JSON has it: null for what is not said."""
        return {
            "name": self.name,
            "description": self.description or None,
            "docs_url": self.docs_url or None,
        }


def names_in(secrets: Any) -> tuple[str, ...]:
    """Return the names in the `secrets` of a configuration, each once; what is no item is passed
    over.
    """
    if not isinstance(secrets, list):
        return ()
    found = (item.get("name") if isinstance(item, dict) else item for item in secrets)
    return tuple(dict.fromkeys(name for name in found if isinstance(name, str)))


def items_in(secrets: Any) -> tuple[SecretItem, ...]:
    """Return the items in the `secrets` of a configuration. What could not be shown is left out."""
    if not isinstance(secrets, list):
        return ()
    return tuple(
        SecretItem(
            name=name,
            description=item["description"] if _is_line(item.get("description")) else "",
            docs_url=item["docs_url"] if _is_url(item.get("docs_url")) else "",
        )
        for item in (one if isinstance(one, dict) else {"name": one} for one in secrets)
        if isinstance(name := item.get("name"), str)
    )


def items_of(tool: Tool) -> tuple[SecretItem, ...]:
    """Return the secrets that a tool declares. What it does not say of one, its kit may."""
    itself = tool.itself
    own = {item.name: item for item in items_in(itself.document.get("secrets"))}
    if itself.kit_id is None or itself.directory is None or not itself.secrets:
        return tuple(own.get(name, SecretItem(name=name)) for name in itself.secrets)
    config = os.path.join(os.path.dirname(itself.directory), defaults.KIT_CONFIG_FILE)
    try:
        stated = strict_json.read_object_if_there(config).get("secrets")
    except (InvalidDocument, StorageError):
        stated = None
    kits = {item.name: item for item in items_in(stated)}
    return tuple(
        merged((*(found[name] for found in (own, kits) if name in found), SecretItem(name=name)))
        for name in itself.secrets
    )


def merged(items: Iterable[SecretItem]) -> SecretItem:
    """Return one item of several of the same name: what the first says that says anything."""
    known = [*items]
    return SecretItem(
        name=known[0].name,
        description=next((item.description for item in known if item.description), ""),
        docs_url=next((item.docs_url for item in known if item.docs_url), ""),
    )


def wrong_item(item: Any) -> Iterator[tuple[str, str]]:
    """Say what is wrong with one item: the pointer inside it, and what must be there instead."""
    name = item.get("name") if isinstance(item, dict) else item
    at = "/name" if isinstance(item, dict) and "name" in item else ""
    if isinstance(item, dict) and not at:
        yield "", f"must be {_NAMED}, or an object with `name`"
    elif not isinstance(name, str):
        yield at, f"must be {_NAMED}{'' if at else ', or an object'}, not {describe(name)}"
    elif not _NAME.fullmatch(name):
        yield at, f"must be {_NAMED}, not {short(name)}"
    if isinstance(item, dict):
        for key, holds, wanted in (
            ("description", _is_line, _SAID),
            ("docs_url", _is_url, _LINKED),
        ):
            if key in item and not holds(item[key]):
                yield f"/{key}", f"must be {wanted}, not {describe(item[key])}"


def _is_line(value: Any) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_DESCRIPTION
        and value.isprintable()
        and bool(value.strip())
    )


def _is_url(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_URL and bool(_URL.fullmatch(value))


def _found(value: Any, at: str, name: str) -> Iterator[Found]:
    if not isinstance(value, list):
        yield at, f"`{name}` must be a list, not {describe(value)}"
        return
    for index, item in enumerate(value):
        for inside, said in wrong_item(item):
            steps = f"{name}[{index}]{inside.replace('/', '.')}"
            yield f"{at}/{index}{inside}", f"`{steps}` {said}"


_NAME_SCHEMA: Final[JsonObject] = {"type": "string", "pattern": f"^{_NAME.pattern}$"}
ITEM_SCHEMA: Final[JsonObject] = {
    "if": {"type": "object"},
    "then": {
        "required": ["name"],
        "properties": {
            "name": _NAME_SCHEMA,
            "description": {
                "type": "string",
                "maxLength": MAX_DESCRIPTION,
                "pattern": rf"^[^{UNPRINTABLE}]*[^ {UNPRINTABLE}][^{UNPRINTABLE}]*$",
                "description": "What it is, and what it must be good for.",
            },
            "docs_url": {
                "type": "string",
                "maxLength": MAX_URL,
                "pattern": f"^{_URL.pattern}$",
                "description": "The page where one is made, or that says how.",
            },
        },
    },
    "else": _NAME_SCHEMA,
}
FORM: Final = Form(
    _found,
    {"type": "array", "items": ITEM_SCHEMA},
    "The secrets that the tool needs: names, or objects that also describe what each is for.",
)
"""The row of `secrets` in `vespe/tools/fields.py`."""
