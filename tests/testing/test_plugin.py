"""The public path of the pytest plugin has all of its hooks."""

from vespe.features.testing import plugin as code
from vespe.testing import plugin


def test_the_public_path_has_every_hook_of_the_plugin() -> None:
    hooks = {name for name in vars(code) if name.startswith("pytest_")}
    assert hooks and hooks == {name for name in vars(plugin) if name.startswith("pytest_")}
