"""A project's own files: what a `.vespe/` holds, reading and changing its config.json, and what
that file may not say.
"""

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from vespe import defaults
from vespe.documents import fields, strict_json
from vespe.documents.pointers import escape_pointer
from vespe.errors import InvalidDocument, StorageError, UsageError
from vespe.files import atomic
from vespe.files.atomic import sweep_beside
from vespe.lazy import difflib, pattern
from vespe.models import JsonObject, JsonValue, ProjectConfig
from vespe.projects import view

RESTRICTED: Final = frozenset(
    [
        "allow_hosts",
        "allowed_signers",
        "api_key",
        "api_key_env",
        "approvals",
        "auth",
        "base_url",
        "endpoint",
        "env",
        "env_passthrough",
        "environment",
        "files",
        "install_root",
        "kit_roots",
        "kits",
        "kits_path",
        "network",
        "provider",
        "providers",
        "sandbox",
        "secrets",
        "sources",
        "trust",
        "trusted",
        "trusted_paths",
    ]
)
"""Keys that only the user's own configuration may hold, at whatever depth (P3)."""
_KEYS: Final = frozenset(
    (
        *("$schema", "version", "active_kits", "tool_resolution_order", "tool_budget"),
        *("lint", "tools", "approvals", "allow_hosts", "sandbox"),
    )
)
"""Keys that a project's own config.json is read for."""
_TIGHTENING: Final = ("/allow_hosts", "/approvals", "/sandbox")
_GRANTS: Final = ("trust", "trusted")
_SCOPE: Final = pattern(r"[a-z0-9][a-z0-9_]{0,63}")
_IGNORED: Final = (
    "# What Vespe keeps here for itself while it works\n*.tmp\n/tools/.*\n__pycache__/\n"
)
_FIRST: Final = {"active_kits": [], "tool_resolution_order": list(defaults.DEFAULT_ORDER)}


def project_dir(root: str | os.PathLike[str]) -> str:
    """Return the path of a project's `.vespe`."""
    return os.path.join(root, defaults.PROJECT_DIR)


def tools_dir(root: str | os.PathLike[str]) -> str:
    """Return the path of the directory of a project's own tools; it may not exist."""
    return os.path.join(root, defaults.PROJECT_DIR, defaults.TOOLS_DIR)


def config_path(root: str | os.PathLike[str]) -> str:
    """Return the path of a project's config.json; it may not exist."""
    return os.path.join(root, defaults.PROJECT_DIR, defaults.CONFIG_FILE)


def complete_project_dir(inner: str) -> None:
    """Add what a `.vespe/` lacks: config.json, tools/ and .gitignore; what exists is never
    overwritten.

    `inner` is the path of the `.vespe/`, or of what becomes one. Raises StorageError, and
    InvalidDocument where it is no directory.
    """
    if os.path.islink(inner) or not os.path.isdir(inner):
        raise InvalidDocument("is not a directory, so no project can be created here", path=inner)
    with atomic.locked(inner):
        _make_directory(os.path.join(inner, defaults.TOOLS_DIR))
        for name, text in (
            (".gitignore", _IGNORED),
            (defaults.CONFIG_FILE, strict_json.dump_json(_FIRST)),
        ):
            if not os.path.lexists(path := os.path.join(inner, name)):
                atomic.write_atomic(path, text)


def read_config(root: str | os.PathLike[str]) -> ProjectConfig:
    """Read which kits are active and the order of scopes; without a config.json the defaults hold.

    Raises InvalidDocument, with the JSON Pointer, for a value of the wrong type, a newer version or
    `trust: true`; StorageError where the file cannot be read. A scope that does not exist is no
    error here.
    """
    path = config_path(os.path.abspath(root))
    return _checked(strict_json.read_object_if_there(path), path)


def update_config(
    root: str | os.PathLike[str], change: Callable[[JsonObject], None]
) -> ProjectConfig:
    """Change config.json under the project's lock: `change` edits the document in place; unknown
    keys and key order stay.

    Gives the new configuration; nothing is written where nothing changed, or where the result would
    not be valid. Raises as `read_config` does, and StorageError.
    """
    return _update(root, change)


def renew_config(
    root: str | os.PathLike[str], change: Callable[[JsonObject], None]
) -> ProjectConfig:
    """Change config.json as `update_config` does, for the user who asked for exactly this change:
    an approval of the project's bytes that held until now holds with it too.
    """
    return _update(root, change, carry_over=True)


def _update(
    root: str | os.PathLike[str], change: Callable[[JsonObject], None], *, carry_over: bool = False
) -> ProjectConfig:
    path = config_path(os.path.abspath(root))
    with atomic.locked(project_dir(root)):
        sweep_beside(path)
        document = strict_json.read_object_if_there(path)
        before = _checked(document, path)
        changed = copy.deepcopy(document)
        change(changed)
        after = _checked(changed, path)

        def write() -> None:
            if changed != document or list(changed) != list(document):
                atomic.write_atomic(path, strict_json.dump_json(changed))

        if not carry_over:
            write()
            return after
        from vespe.trust import gate

        # where nothing changes, too: it brings an earlier change to its end that was killed
        with gate.carrying_over(before, after):
            write()
        return after


def set_active(
    root: str | os.PathLike[str], kit_ids: Iterable[str], *, active: bool = True
) -> ProjectConfig:
    """Activate kits, after those that are active already and in the order given, or deactivate
    them.

    Whether a kit exists is not asked. An approval of the project's bytes holds with these kits too.
    Raises UsageError for what is not a kit id, and as `update_config` does.
    """
    wanted = tuple(dict.fromkeys(kit_ids))
    for kit_id in wanted if active else ():
        if not _SCOPE.fullmatch(kit_id) or kit_id in defaults.DEFAULT_ORDER:
            raise UsageError(
                f"{kit_id!r} is not a valid kit id: use lower-case letters, digits and _, at "
                "most 64"
            )

    def change(document: JsonObject) -> None:
        before = list(fields.strings(document, "active_kits", path=config_path(root)))
        after = (
            [*before, *(k for k in wanted if k not in before)]
            if active
            else [k for k in before if k not in wanted]
        )
        if after != before:
            document["active_kits"] = after

    return _update(root, change, carry_over=active)


def restricted_keys(document: JsonObject) -> list[str]:
    """Return a warning for each key, at any depth of a project's config.json, that only the user
    may set.

    All are ignored, but `allow_hosts`, `approvals` and `sandbox` at the top, which can tighten what
    the user says (`configuration.narrowed`, `policy.rules_of`). Approvals that allow nothing and
    the tightest sandbox always count, and need no warning.
    """
    only = "it is only allowed in your own configuration (`vespe config set`)"
    return [
        f"{pointer} in {defaults.CONFIG_FILE} can only make your own configuration stricter, "
        "not weaker"
        if pointer in _TIGHTENING
        else f"{pointer} in {defaults.CONFIG_FILE} is ignored: {only}"
        for pointer, key, value in _members(document, "")
        if key in RESTRICTED
        and not (pointer == "/approvals" and isinstance(value, dict) and not value.get("allow"))
        and not (pointer == "/sandbox" and value == "require")
    ]


def misspelt_keys(document: JsonObject) -> list[str]:
    """Return a warning for each key at the top of a project's config.json that Vespe does not know
    and that is nearly one that it knows; any other may be a later version's.
    """
    found = []
    for key in document.keys() - _KEYS - RESTRICTED:
        if near := difflib.get_close_matches(key, sorted(_KEYS), n=1, cutoff=0.8):
            found.append(
                f"/{key} in {defaults.PROJECT_DIR}/{defaults.CONFIG_FILE} is not a project "
                f"setting and is ignored: did you mean {near[0]}? Rename it in the file"
            )
    return sorted(found)


def _checked(document: JsonObject, path: str) -> ProjectConfig:
    fields.refuse_newer(document, path=path)
    view.read_rules(document, path=path)
    for pointer, key, value in _members(document, ""):
        if key in _GRANTS and value is True:
            raise InvalidDocument(
                "a project cannot mark itself as trusted",
                path=path,
                pointer=pointer,
                hint="remove the key, then approve it with `vespe trust`",
            )
    return ProjectConfig(
        root=os.path.dirname(os.path.dirname(path)),
        active_kits=fields.strings(document, "active_kits", path=path),
        tool_resolution_order=fields.strings(
            document, "tool_resolution_order", path=path, default=defaults.DEFAULT_ORDER
        ),
        document=document,
    )


def _members(value: JsonValue, pointer: str) -> Iterator[tuple[str, str, JsonValue]]:
    """Every member of every object within, as (pointer, key, value); `documents` bounds the depth.

    What `tools` says is left out: tools' arguments may have any name.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{pointer}/{escape_pointer(key)}"
            yield here, key, item
            if here != f"/{view.TOOLS}":
                yield from _members(item, here)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _members(item, f"{pointer}/{index}")


def _make_directory(path: str) -> None:
    try:
        os.mkdir(path, 0o755)
    except FileExistsError:
        return
    except OSError as error:
        raise StorageError("make", path, error) from error
