"""The MCP registry's server.json: its packages as pinned commands, its remotes as addresses."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from vespe.models import JsonObject

_RUNNERS: Final = {"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}


@dataclass(slots=True, kw_only=True)
class Package:
    """The server that a server.json describes; a `problem` says why it cannot be started here."""

    name: str
    server: JsonObject = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problem: str = ""


def package_of(document: JsonObject) -> Package | None:
    """Return the first package of a server.json that can be started, else the first remote; None
    for what is no server.json.
    """
    document = (
        document.get("server", document)
        if isinstance(document.get("server"), dict) and "name" in document["server"]
        else document
    )
    packages, remotes = document.get("packages"), document.get("remotes")
    if not isinstance(document.get("name"), str) or not (
        isinstance(packages, list) or isinstance(remotes, list)
    ):
        return None
    name = document["name"].rpartition("/")[2]
    made = [_package(name, one, document) for one in packages or () if isinstance(one, dict)]
    made += [_remote(name, one) for one in remotes or () if isinstance(one, dict)]
    if not made:
        return Package(name=name, problem="it names neither a package nor a URL")
    best = next((one for one in made if not one.problem), made[0])
    if len(made) > 1:
        best.notes.append(
            f"it can be installed in {len(made)} ways; this is the first one that Vespe can start"
        )
    return best


def _package(name: str, said: JsonObject, document: JsonObject) -> Package:
    made = Package(name=name)
    kind = str(
        said.get("registryType", said.get("registry_type", said.get("registry_name", "")))
    ).lower()
    identifier = str(said.get("identifier", said.get("name", "")))
    version = str(said.get("version", document.get("version", "")))
    transport = said.get("transport")
    if isinstance(transport, dict) and transport.get("type", "stdio") != "stdio":
        made.problem = (
            f"its package speaks {transport.get('type')}; Vespe only starts servers that use stdin "
            "and stdout"
        )
    elif kind not in _RUNNERS:
        made.problem = (
            f"its package is of the kind {kind or 'that it does not name'}, which Vespe does not "
            "start"
        )
    elif "${" in identifier + version:
        made.problem = "its version is a placeholder, so nothing can be pinned"
    else:
        if not version or version == "latest":
            made.notes.append(
                "it names no version, so the program may change; its tool definitions are pinned "
                "nevertheless"
            )
        runtime = [*_arguments(said, "runtimeArguments", made)]
        package = [*_arguments(said, "packageArguments", made)]
        secrets, fixed = _variables(said)
        made.server["command"] = (
            _command(kind, identifier, version, runtime=runtime, fixed=fixed, secrets=secrets)
            + package
        )
        if secrets:
            made.server["secrets"] = secrets
    return made


def _command(
    kind: str,
    identifier: str,
    version: str,
    *,
    runtime: list[str],
    fixed: list[str],
    secrets: list[str],
) -> list[str]:
    if kind == "oci":
        named = [word for pair in (*fixed, *secrets) for word in ("-e", pair)]
        tagged = (
            identifier
            if ":" in identifier.rpartition("/")[2] or "@" in identifier or not version
            else f"{identifier}:{version}"
        )
        return ["docker", "run", "-i", "--rm", *named, *runtime, tagged]
    before = ["env", *fixed] if fixed else []
    if kind == "pypi":
        return [
            *before,
            "uvx",
            *runtime,
            f"{identifier}=={version}" if version and version != "latest" else identifier,
        ]
    pinned = f"{identifier}@{version}" if version else identifier
    return (
        [*before, "npx", "-y", *runtime, pinned]
        if kind == "npm"
        else [*before, "dnx", *runtime, pinned, "--yes"]
    )


def _arguments(said: JsonObject, key: str, made: Package) -> Iterator[str]:
    listed = said.get(key)
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict):
            continue
        value = one.get("value", one.get("default"))
        name = str(one.get("name", "")) if one.get("type") == "named" else ""
        if value is None and one.get("isRequired") is True:
            made.problem = (
                f"its argument {name or one.get('valueHint', '')} has no value: "
                "give the whole command after --"
            )
        elif value is not None and "{" in str(value):
            if one.get("isRequired") is True:
                made.problem = (
                    f"its argument {name or value} has variables: give the whole command after --"
                )
            else:
                made.notes.append(
                    f"its argument {name} {value} has variables, and is left out".replace("  ", " ")
                )
        elif value is not None or (name and one.get("isRequired") is True):
            yield from (str(word) for word in (name, value) if word not in ("", None))


def _variables(said: JsonObject) -> tuple[list[str], list[str]]:
    """Return the names of the secrets that a package wants, and the assignments of the rest."""
    secrets, fixed = [], []
    listed: Any = said.get("environmentVariables", said.get("environment_variables"))
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            continue
        value = one.get("value", one.get("default"))
        if value is not None and one.get("isSecret") is not True and "{" not in str(value):
            fixed.append(f"{one['name']}={value}")
        elif one.get("isRequired") is True:
            secrets.append(one["name"])
    return secrets, fixed


def _remote(name: str, said: JsonObject) -> Package:
    made = Package(name=name)
    if str(said.get("type", said.get("transport_type", ""))) not in (
        "streamable-http",
        "streamable",
    ):
        made.problem = f"its URL uses {said.get('type')}; Vespe only supports Streamable HTTP"
        return made
    if "{" in str(said.get("url", "")):
        made.problem = "its URL has variables"
    made.server["url"] = str(said.get("url", ""))
    for one in said.get("headers") or ():
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            value = str(one.get("value", ""))
            variable = "".join(
                letter if letter.isalnum() else "_" for letter in f"{name}_{one['name']}"
            ).upper()
            if value and "{" not in value and one.get("isSecret") is not True:
                made.server.setdefault("headers", {})[one["name"]] = value
            elif one.get("isRequired") is True:
                scheme = value.partition("{")[0]
                made.server.setdefault("headers", {})[one["name"]] = f"{scheme}${{env:{variable}}}"
                made.server.setdefault("secrets", []).append(variable)
    return made
