"""The user's own config.json: what only the user may say, how it is read and changed, and where
each value came from.
"""

import contextlib
import copy
import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final

from vespe import defaults, features
from vespe.documents import fields, strict_json
from vespe.documents.near import suggest
from vespe.documents.pointers import escape_pointer, steps_of
from vespe.errors import InvalidDocument, NotFound, UsageError
from vespe.files import atomic, locations, ownership
from vespe.files.atomic import sweep_beside
from vespe.files.confined_rules import Rules
from vespe.lazy import pattern, shlex
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass

_PROJECTS_OWN: Final = ("lint", "tool_budget", "tools")
_FILE_RULES: Final = ("may_write", "never_read")
_OWN: Final = ("allow_hosts", "allowed_signers", "approvals", "files", "sandbox", "secrets")
KEYS: Final = tuple(sorted((*_OWN, *features.settings())))
"""The settings that there are; a file may hold others, which are kept and mean nothing."""
SANDBOX: Final = ("off", "auto", "require")
"""From the widest to the tightest."""
MASK: Final = "********"
_WITH_REFERENCES: Final = 2
"""The version of a file in which a secret is an object: 0.2 reads version 1, and says so."""
_LEADS: Final = ("ref", "timeout_s", "lines", "url")
_SENSITIVE: Final = pattern(r"(?i)(key|token|secret|password)(?!.*_env$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserConfig:
    """What the user's own configuration says; without a file everything has its default.

    `allow_hosts` are the private hosts (`127.0.0.1:8080`) that HTTP tools may reach; `secrets` are
    values by the name of the environment variable that they stand in for, or references, which are
    objects (`vespe/features/secrets/references.py`); `sandbox` is `auto`,
    `require` or `off`. `agent` names the `provider` and the `model` that agents ask where nobody
    names another. `allowed_signers` is the file (as ssh-keygen reads it) of those whose signed tags
    count; "" for none. `files` are the patterns of what file tools may write although other
    programs execute it, and of what they must not read.
    """

    allow_hosts: tuple[str, ...] = ()
    secrets: Mapping[str, str | JsonObject] = field(default_factory=dict, repr=False)
    providers: JsonObject = field(default_factory=dict, repr=False)
    agent: Mapping[str, str] = field(default_factory=dict)
    approvals: JsonObject = field(default_factory=dict)
    sandbox: str = "auto"
    allowed_signers: str = ""
    files: Rules = field(default_factory=Rules)
    document: JsonObject = field(default_factory=dict, repr=False)
    path: str = ""


def config_path() -> str:
    """Return the path of the user's config.json; a link there, as keepers of dot-files make, is
    followed.
    """
    return os.path.realpath(_link())


def _link() -> str:
    return os.path.join(locations.user_config_dir(), defaults.CONFIG_FILE)


def load_user_config() -> UserConfig:
    """Read the user's configuration. Raises InvalidDocument, with the pointer of what is wrong,
    StorageError, and Refused for a file that another user can change or replace.
    """
    document, path = _read()
    return _checked(document, path)


def _read() -> tuple[JsonObject, str]:
    path = config_path()
    if why := ownership.foreign_writer(path):
        raise locations.refuse_foreign(path, why, kind="config")
    if replaced := ownership.foreign_place(_link()):
        raise locations.refuse_foreign(*replaced, kind="config")
    return strict_json.read_object_if_there(path), path


def allowed_signers_file() -> str | None:
    """Return the path of the user's file of allowed signers, or None if none is configured. Raises
    InvalidDocument if it is gone.
    """
    user = load_user_config()
    if not user.allowed_signers:
        return None
    path = os.path.expanduser(user.allowed_signers)
    if not os.path.isabs(path) or not os.path.isfile(path):
        raise InvalidDocument(
            f"names {path}, which is not a file with an absolute path",
            path=user.path,
            pointer="/allowed_signers",
            hint=repair_hint("allowed_signers"),
        )
    return path


def get_value(key: str) -> JsonValue:
    """Return the value of a dotted key (`secrets.GITHUB_TOKEN`), unmasked; raises NotFound where it
    is not set.
    """
    return _value_of(key, load_user_config().document)


def _value_of(key: str, document: JsonObject) -> JsonValue:
    value: JsonValue = document
    for part in _parts(key):
        if not isinstance(value, dict) or part not in value:
            raise NotFound(
                f"the setting {key} is not set", hint=f"`vespe config set {key} VALUE` sets it"
            )
        value = value[part]
    return value


def set_value(key: str, value: JsonValue, *, was: tuple[JsonValue, ...] = ()) -> None:
    """Set a dotted key, in a file that only the user can read; other keys and their order stay.

    With `was` only where its value is still that one. Raises UsageError for a key that is none, a
    value that it cannot have, and where it has another value by now.
    """
    *parents, last = _parts(key)
    if (feature := _checker([*parents, last][0])) is not None:
        feature.refuse_unusable(key, value)

    def change(document: JsonObject) -> None:
        for number, part in enumerate(parents, 1):
            document = document.setdefault(part, {})
            if not isinstance(document, dict):
                wrong = ".".join(parents[:number])
                raise UsageError(
                    f"{key} cannot be set: {part} is not an object",
                    hint=repair_hint(wrong, removes=True),
                )
        if was and document.get(last) != was[0]:
            raise UsageError(f"{key} was changed in the meantime", hint="run it again")
        document[last] = value

    _update(key, [*parents, last], change)


def unset_value(key: str) -> None:
    """Remove a dotted key; raises NotFound where it is not set."""
    _value_of(key, _read()[0])
    _unset(key, _parts(key))


def unset_secret(name: str) -> None:
    """Remove `secrets.NAME`, whose name may have dots; nothing where it is not there."""
    _unset(f"secrets.{name}", ["secrets", name])


def _unset(key: str, parts: list[str]) -> None:
    *parents, last = parts

    def change(document: JsonObject) -> None:
        for part in parents:
            document = document.get(part, {})
        document.pop(last, None)

    _update(key, parts, change)


def narrow(user: UserConfig, project: JsonObject) -> UserConfig:
    """Return the user's configuration as a project's config.json tightens it: it can only take
    away.

    Its `allow_hosts` leaves those hosts that both name; its `sandbox` counts where it is the
    tighter one. Anything else that only the user may say, and a value of the wrong type, changes
    nothing.
    """
    hosts, sandbox = project.get("allow_hosts"), project.get("sandbox")
    if isinstance(hosts, list):
        user = replace(user, allow_hosts=tuple(host for host in user.allow_hosts if host in hosts))
    if sandbox in SANDBOX and SANDBOX.index(sandbox) > SANDBOX.index(user.sandbox):
        user = replace(user, sandbox=sandbox)
    return user


def origins(
    user: UserConfig, project: JsonObject | None = None, *, project_path: str = ""
) -> list[tuple[str, JsonValue, str]]:
    """List every setting in force as (dotted key, value, file or `default`), by key; secrets are
    masked.

    `project` is the project's config.json, from which the active kits, the order of scopes, lint's
    settings and what it tightens come. Rules on calls stand there twice where both files have some,
    since both hold.
    """
    listed: list[tuple[str, JsonValue, str]] = []
    found: dict[str, tuple[JsonValue, str]] = {
        "allow_hosts": ([], "default"),
        "sandbox": ("auto", "default"),
    }
    for key in KEYS:
        if key in user.document:
            found.update(
                {name: (value, user.path) for name, value in _leaves(key, user.document[key])}
            )
    if project is not None:
        tight = narrow(user, project)
        for key, value, own in (
            ("allow_hosts", list(tight.allow_hosts), list(user.allow_hosts)),
            ("sandbox", tight.sandbox, user.sandbox),
        ):
            found |= {key: (value, project_path)} if value != own else {}
        rules = project.get("approvals")
        ours = [
            leaf for key in _PROJECTS_OWN if key in project for leaf in _leaves(key, project[key])
        ]
        ours += [
            (f"approvals.{kind}", rules[kind])
            for kind in ("ask", "deny", "flow")
            if isinstance(rules, dict) and kind in rules
        ]
        listed += [(key, value, project_path) for key, value in ours]
        for key, default in (
            ("active_kits", []),
            ("tool_resolution_order", list(defaults.DEFAULT_ORDER)),
        ):
            found[key] = (project[key], project_path) if key in project else (default, "default")
    listed += [(key, value, file) for key, (value, file) in found.items()]
    return sorted(listed, key=lambda row: (row[0], row[2]))


def _leaves(key: str, value: JsonValue) -> list[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        parts = [(name, f"{key}.{name}", item) for name, item in value.items()]
        if key.startswith("secrets."):
            # Names may have dots: only here is it known that this is a part of a reference.
            return [(whole, item if name in _LEADS else MASK) for name, whole, item in parts]
        return [leaf for _, whole, item in parts for leaf in _leaves(whole, item)]
    return [(key, MASK if key.startswith("secrets.") or _is_private(key) else value)]


def mask(key: str, value: JsonValue) -> JsonValue:
    """Return the value under a dotted key as it may be shown, keys of providers masked; `secrets`,
    asked for by name, are shown.
    """
    if isinstance(value, dict):
        return {name: mask(f"{key}.{name}", item) for name, item in value.items()}
    return MASK if not key.startswith("secrets.") and _is_private(key) else value


def _is_private(key: str) -> bool:
    """Whether a setting's value may be a key: by its name, as a header that is sent to a provider,
    or as what a reference runs. Where a reference leads is none.
    """
    head, _, name = key.rpartition(".")
    if key.startswith("providers.") and ".api_key." in key:
        return name not in _LEADS
    return bool(head) and (
        bool(_SENSITIVE.search(name))
        or (key.startswith("providers.") and head.endswith(".headers"))
    )


def provider_keys(user: UserConfig) -> dict[str, str | JsonObject]:
    """Return the keys of providers that the configuration has, values or references, each by its
    setting: `providers.NAME.api_key`.
    """
    return _provider_keys({"providers": user.providers})


def _provider_keys(document: JsonObject) -> dict[str, str | JsonObject]:
    providers = document.get("providers", {})
    if not isinstance(providers, dict):
        return {}  # it is wrong, while another key is repaired
    return {
        f"providers.{name}.api_key": said["api_key"]
        for name, said in providers.items()
        if isinstance(said, dict) and said.get("api_key")
    }


def _parts(key: str) -> list[str]:
    parts = key.split(".")
    if parts[0] not in KEYS or not all(parts):
        hint = (
            suggest(parts[0], KEYS)
            or f"the settings are {', '.join(KEYS)}; write secrets.NAME for one secret"
        )
        raise UsageError(f"there is no setting {key!r}", hint=hint)
    if (feature := _checker(parts[0])) is not None:
        feature.refuse_unknown(key)
    return parts


def _checker(key: str) -> Any:
    """Return the module of the feature that a setting belongs to; None for one of the core."""
    owner = features.settings().get(key)
    return None if owner is None else features.load(*owner)


def _checked(document: JsonObject, path: str) -> UserConfig:
    """Return what a document says. Raises InvalidDocument, with the command that repairs it."""
    try:
        return _made(document, path)
    except InvalidDocument as error:
        if error.pointer != "/version":
            error.hint = f"{error.hint} {_repair(document, error.pointer)}".lstrip()
        raise


def _repair(document: JsonObject, pointer: str) -> str:
    """Return how to repair what a pointer names: by the key that can be removed alone, since it
    need not stay without what is wrong in it.
    """
    parts = list(steps_of(pointer))
    while parts and "." not in "".join(parts):
        rest, key = copy.deepcopy(document), ".".join(parts)
        if _remove(rest, parts) and not _is_wrong(rest, parts):
            with contextlib.suppress(UsageError):
                return repair_hint(".".join(_parts(key)))
        parts.pop()
    return "correct it in that file"


def repair_hint(key: str, *, removes: bool = False) -> str:
    """Return the hint that says how a key with a wrong value is repaired, or removed where it
    cannot have any.
    """
    name = shlex.quote(key)
    removing = f"`vespe config set {name} --unset` removes it"
    return removing if removes else f"`vespe config set {name} VALUE` corrects it, and {removing}"


def _remove(document: JsonValue, parts: list[str]) -> bool:
    """Remove what stands at a place, and say whether anything did."""
    for part in parts[:-1]:
        document = document.get(part) if isinstance(document, dict) else None
    if not isinstance(document, dict) or parts[-1] not in document:
        return False
    del document[parts[-1]]
    return True


def _is_wrong(document: JsonObject, parts: list[str]) -> bool:
    """Whether something is wrong with the setting that a place is in, whatever else is."""
    try:
        _check_alone(document, parts)
    except InvalidDocument:
        return True
    return False


def _check_alone(document: JsonObject, parts: list[str]) -> None:
    """Check a setting, or one of those under a name such as `secrets`, and no other. Raises
    InvalidDocument where what is wrong is at a place, in it or around it.
    """
    group, name = parts[0], parts[1] if len(parts) > 1 else None
    value = document.get(group)
    if name is not None and isinstance(value, dict):
        value = {name: value[name]} if name in value else {}
    try:
        _made({group: value} if group in document else {}, "")
    except InvalidDocument as error:
        if all(mine == other for mine, other in zip(parts, steps_of(error.pointer), strict=False)):
            raise


def _made(document: JsonObject, path: str) -> UserConfig:
    fields.refuse_newer(document, path=path, newest=_WITH_REFERENCES)
    secrets, sandbox = (
        fields.mapping(document, "secrets", path=path),
        document.get("sandbox", "auto"),
    )
    for name, value in secrets.items():
        if not isinstance(value, str) and features.is_present("secrets"):
            features.load("secrets", "references").check(name, value, path)
    for key in features.settings():
        if fields.mapping(document, key, path=path):
            _checker(key).check(key, document[key], path)
    if sandbox not in SANDBOX:
        raise fields.wrong_type(
            '"auto", "require" or "off"', sandbox, path=path, pointer="/sandbox"
        )
    return UserConfig(
        agent=fields.mapping(document, "agent", path=path),
        allow_hosts=fields.strings(document, "allow_hosts", path=path),
        secrets=secrets,
        providers=fields.mapping(document, "providers", path=path),
        approvals=fields.mapping(document, "approvals", path=path),
        sandbox=sandbox,
        allowed_signers=fields.string(document, "allowed_signers", path=path) or "",
        files=_file_rules(document, path),
        document=document,
        path=path,
    )


def _file_rules(document: JsonObject, path: str) -> Rules:
    given = fields.mapping(document, "files", path=path)
    for key in _FILE_RULES:
        patterns = given.get(key, [])
        if not isinstance(patterns, list) or not all(
            isinstance(pattern, str) and pattern.strip("/") for pattern in patterns
        ):
            raise InvalidDocument(
                "must be an array of patterns such as *.env",
                path=path,
                pointer=f"/files/{escape_pointer(key)}",
            )
        if unknown := next(
            (pattern for pattern in patterns if os.path.expanduser(pattern).startswith("~")), None
        ):
            reason = (
                f"contains {unknown!r}, but this machine has no such user, so it would "
                "match nothing"
            )
            raise InvalidDocument(reason, path=path, pointer=f"/files/{escape_pointer(key)}")
    may_write, never_read = (
        tuple(map(os.path.expanduser, given.get(key, ()))) for key in _FILE_RULES
    )
    return Rules(may_write, never_read)


def _update(key: str, parts: list[str], change: Callable[[JsonObject], None]) -> None:
    """Change the file. Where the value of the key itself was wrong, that need only repair this:
    what else is wrong stays, to be repaired by its own key.
    """
    path = config_path()
    directory = os.path.dirname(path)
    atomic.private_directory(directory)
    with atomic.locked(directory):
        sweep_beside(path)
        document = strict_json.read_object_if_there(path)
        fields.refuse_newer(document, path=path, newest=_WITH_REFERENCES)
        repairs = _is_wrong(document, parts)
        if not repairs:
            _checked(document, path)
        after = copy.deepcopy(document)
        change(after)
        try:
            if repairs:
                _check_alone(after, parts)
            else:
                _made(after, path)
        except InvalidDocument as error:
            raise UsageError(
                f"{key} cannot be set to that: {error.pointer} {error.reason}", hint=error.hint
            ) from None
        secrets = after.get("secrets")
        kept = [
            *(secrets.values() if isinstance(secrets, dict) else ()),
            *_provider_keys(after).values(),
        ]
        if any(isinstance(value, dict) for value in kept):
            after["version"] = _WITH_REFERENCES
        elif after.get("version") == _WITH_REFERENCES:
            after["version"] = 1  # which 0.2 reads again
        atomic.write_atomic(path, strict_json.dump_json(after), mode=0o600)
