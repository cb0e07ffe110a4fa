"""The MCP registry's server.json: packages as pinned commands."""

from typing import Any

import pytest

from vespe.kits.server_json import package_of

PACKAGES: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"registryType": "npm", "identifier": "@a/b", "version": "1.2.3"},
        ["npx", "-y", "@a/b@1.2.3"],
    ),
    ({"registryType": "pypi", "identifier": "a-b", "version": "1.2.3"}, ["uvx", "a-b==1.2.3"]),
    (
        {"registryType": "oci", "identifier": "docker.io/a/b", "version": "1.2"},
        ["docker", "run", "-i", "--rm", "docker.io/a/b:1.2"],
    ),
    (
        {"registryType": "oci", "identifier": "ghcr.io/a/b:9"},
        ["docker", "run", "-i", "--rm", "ghcr.io/a/b:9"],
    ),
    ({"registryType": "nuget", "identifier": "A.B", "version": "1.0"}, ["dnx", "A.B@1.0", "--yes"]),
    ({"registry_name": "npm", "name": "x", "version": "1"}, ["npx", "-y", "x@1"]),
    (
        {
            "registryType": "npm",
            "identifier": "x",
            "version": "1",
            "packageArguments": [
                {"type": "positional", "value": "serve"},
                {"type": "named", "name": "--port", "default": "80"},
                {"type": "named", "name": "--opt"},
            ],
        },
        ["npx", "-y", "x@1", "serve", "--port", "80"],
    ),
    (
        {
            "registryType": "npm",
            "identifier": "x",
            "version": "1",
            "environmentVariables": [{"name": "MODE", "default": "fast"}],
        },
        ["env", "MODE=fast", "npx", "-y", "x@1"],
    ),
]


def described(**more: Any) -> dict[str, Any]:
    return {"name": "io.github.me/thing", "version": "7", **more}


@pytest.mark.parametrize(("package", "command"), PACKAGES)
def test_a_package_is_a_command_with_its_version(
    package: dict[str, Any], command: list[str]
) -> None:
    found = package_of(described(packages=[package]))
    assert found is not None
    assert (found.name, found.server["command"], found.problem) == ("thing", command, "")


def test_secrets_are_declared_and_passed_on() -> None:
    variables = [{"name": "KEY", "isRequired": True, "isSecret": True}, {"name": "OPTIONAL"}]
    found = package_of(
        described(
            packages=[
                {
                    "registryType": "oci",
                    "identifier": "a/b",
                    "version": "1",
                    "environmentVariables": variables,
                }
            ]
        )
    )
    assert found is not None
    assert found.server == {
        "command": ["docker", "run", "-i", "--rm", "-e", "KEY", "a/b:1"],
        "secrets": ["KEY"],
    }


def test_a_remote_is_an_address_with_its_headers() -> None:
    headers = [
        {"name": "Authorization", "value": "Bearer {token}", "isRequired": True, "isSecret": True}
    ]
    found = package_of(
        described(
            remotes=[
                {"type": "sse", "url": "https://x/sse"},
                {"type": "streamable-http", "url": "https://x", "headers": headers},
            ]
        )
    )
    assert found is not None
    assert found.server["headers"] == {"Authorization": "Bearer ${env:THING_AUTHORIZATION}"}


@pytest.mark.parametrize(
    "package",
    [
        {"registryType": "mcpb", "identifier": "https://x"},
        {"registryType": "oci", "identifier": "a:${VERSION}"},
        {},
        {
            "registryType": "npm",
            "identifier": "x",
            "version": "1",
            "transport": {"type": "streamable-http", "url": "http://x"},
        },
        {
            "registryType": "npm",
            "identifier": "x",
            "packageArguments": [{"type": "positional", "valueHint": "dir", "isRequired": True}],
        },
    ],
)
def test_what_cannot_be_started_is_a_reason(package: dict[str, Any]) -> None:
    found = package_of(described(packages=[package]))
    assert found is not None
    assert found.problem


@pytest.mark.parametrize(
    "document", [{}, {"name": "x"}, {"packages": []}, {"name": 1, "packages": []}]
)
def test_what_is_no_server_json_is_none(document: dict[str, Any]) -> None:
    assert package_of(document) is None
