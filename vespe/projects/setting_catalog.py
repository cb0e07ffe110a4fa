"""Every setting that there is, yours and a project's, as the published schemas describe them; with
the values that are in force here.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from vespe.models import JsonObject, JsonValue
from vespe.projects import user_config
from vespe.projects.user_config import UserConfig
from vespe.schemas import published

DEFAULT: Final = "default"
"""The origin of a value that nobody set."""
_ANY: Final = "NAME"
"""What stands for a name of the user's own in a key."""
_LEFT_OUT: Final = ("$schema", "version")


class KnownSetting(NamedTuple):
    """A setting that there is: its dotted `key`, in which NAME stands for a name of the user's own,
    its `default` (None for none), and what it is for.
    """

    key: str
    default: JsonValue
    description: str

    @property
    def is_whole(self) -> bool:
        """Whether the key can be set as it is: no part of it stands for a name."""
        return _ANY not in self.key.split(".")

    def is_about(self, key: str) -> bool:
        """Whether a dotted key, or what it begins with, is this setting."""
        own, given = self.key.split("."), key.split(".")
        return len(own) <= len(given) and all(
            part in (_ANY, said) for part, said in zip(own, given, strict=False)
        )


def known() -> list[KnownSetting]:
    """Return all settings, by key."""
    found: dict[str, KnownSetting] = {}
    for name in ("user", "project"):
        schema = published.read_published(name)
        for one in _leaves(schema, schema, ""):
            found.setdefault(one.key, one)
    return [found[key] for key in sorted(found)]


def list_settings(
    user: UserConfig, document: JsonObject | None, *, path: str, everything: bool
) -> list[JsonObject]:
    """Return the settings in force as `key`, `value`, `default`, `origin` (a file, or `default`)
    and `description`, by key; with `everything` also those that nobody set, whose value is their
    default. Secrets are masked. `document` is the project's config.json, which `path` names.
    """
    every = known()
    rows: list[JsonObject] = []
    for key, value, origin in user_config.origins(user, document, project_path=path):
        about = [one for one in every if one.is_about(key)]
        said = max(about, key=lambda one: len(one.key), default=KnownSetting(key, None, ""))
        rows.append(_row(said._replace(key=key), value, origin))
    listed = {str(row["key"]) for row in rows}
    rows += [
        _row(one, one.default, DEFAULT) for one in every if everything and one.key not in listed
    ]
    return sorted(rows, key=lambda row: (row["key"], row["origin"]))


def _row(setting: KnownSetting, value: JsonValue, origin: str) -> JsonObject:
    return {
        "key": setting.key,
        "value": value,
        "default": setting.default,
        "origin": origin,
        "description": setting.description,
    }


def _leaves(schema: JsonObject, whole: JsonObject, key: str) -> Iterator[KnownSetting]:
    if "x-restricted" in schema or key in _LEFT_OUT:
        return
    properties, other = schema.get("properties"), schema.get("additionalProperties")
    if isinstance(properties, dict):
        for name, inner in properties.items():
            yield from _leaves(inner, whole, f"{key}.{name}" if key else name)
    elif isinstance(other, dict):
        yield from _leaves(_described(other, schema), whole, f"{key}.{_ANY}")
    elif key:
        yield KnownSetting(key, schema.get("default"), str(schema.get("description", "")))


def _described(inner: JsonObject, outer: JsonObject) -> JsonObject:
    """What is said of all of a kind stands for each of them that has no words of its own."""
    said: Any = {} if "properties" in inner else {"description": outer.get("description", "")}
    return {**said, **inner}
