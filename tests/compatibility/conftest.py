"""A 0.2 user's machine: one per module to read, and a fresh one for each test that writes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.compatibility.world import World


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world for reading. Commands still write their log and their caches into it."""
    world = World(tmp_path_factory.mktemp("frozen"))
    yield world
    world.remove()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A world of the test's own."""
    world = World(tmp_path)
    yield world
    world.remove()


@pytest.fixture
def world_of(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Make a world whose files name the port of the test's own server."""
    made: list[World] = []

    def make(*parts: str, port: int) -> World:
        made.append(World(tmp_path, *parts, port=port))
        return made[-1]

    yield make
    for world in made:
        world.remove()


@pytest.fixture
def at_home(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The test's own world, with this process in its shop, as a program of the user."""
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(world.shop)
    return world
