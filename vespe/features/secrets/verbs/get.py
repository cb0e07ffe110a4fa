"""`vespe secret get`: the value of one secret."""

import os

import click

from vespe.calls.secrets import SecretValues
from vespe.cli import options, report
from vespe.features.secrets import stores


@click.command("get", epilog="Example: vespe secret get GITHUB_TOKEN")
@click.argument("secret_name", metavar="NAME")
@options.json_option
def command(secret_name: str, as_json: bool) -> None:
    """Print the value of a secret. `vespe secret check` tests that it is available without showing
    it.
    """
    said = stores.said_of(secret_name)
    environment = {name: value for name, value in os.environ.items() if name != secret_name}
    values = SecretValues(environment=environment, configured={secret_name: said})
    value = values.find((secret_name,))
    if os.environ.get(secret_name):
        report.warn(f"the environment variable {secret_name} is set and takes precedence")
    if as_json:
        report.emit_json({"name": secret_name, "value": value, **stores.described(said)})
    else:
        report.emit(value)
