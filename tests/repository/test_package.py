"""The package as users install it: its public names, its types, its data."""

import importlib.metadata
import json
import os
from importlib.resources import files
from pathlib import Path

import pytest

import vespe
from tests.repository.test_public_paths import NAMES
from vespe import defaults

ROOT = Path(__file__).resolve().parents[2]
PROMISED = set(NAMES["vespe"])


def test_the_public_names_are_exactly_the_promised_ones() -> None:
    assert set(vespe.__all__) == PROMISED and list(vespe.__all__) == sorted(vespe.__all__)
    assert all(getattr(vespe, name) is not None for name in vespe.__all__)
    assert set(dir(vespe)) >= PROMISED


@pytest.mark.parametrize("name", sorted(PROMISED - {"__version__"}))
def test_every_public_name_is_documented(name: str) -> None:
    assert getattr(vespe, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Tols'"):
        vespe.Tols  # type: ignore[attr-defined]  # noqa: B018  # the access is the test


def test_the_version_is_written_in_one_place() -> None:
    assert vespe.__version__ == defaults.VERSION == importlib.metadata.version("vespe")


def test_types_and_schemas_travel_with_the_package() -> None:
    package = files("vespe")
    assert package.joinpath("py.typed").is_file()
    schemas = [
        entry for entry in package.joinpath("data").iterdir() if entry.name.endswith(".schema.json")
    ]
    assert package.joinpath("features/inspector/pages/style.css").is_file()
    assert len(schemas) >= 4 and all(
        "$schema" in json.loads(entry.read_text(encoding="utf-8")) for entry in schemas
    )


def test_no_link_leads_out_of_the_source_distribution() -> None:
    """Who unpacks one with Python's filter `data` refuses such a link, and with it the release."""
    for directory in ("vespe", "kits", "tests", "docs"):
        for path in (ROOT / directory).rglob("*"):
            if path.is_symlink():
                target = os.readlink(path)
                assert not os.path.isabs(target), path
                assert Path(os.path.normpath(path.parent / target)).is_relative_to(ROOT), path
