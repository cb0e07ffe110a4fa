"""`permissions` as a config.json says them."""

import pytest

from vespe.models import Permissions
from vespe.tools.permissions import permissions_of


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, Permissions()),
        ({"read": [], "network": ["h:1"]}, Permissions(read=(), network=("h:1",))),
        (
            {"write": "x", "programs": [1, "git"], "memory_mb": True},
            Permissions(write=(), programs=("git",)),
        ),
        ({"memory_mb": 64, "other": 1}, Permissions(memory_mb=64)),
    ],
)
def test_what_is_stated_is_read_and_what_is_wrong_grants_nothing(
    document: dict[str, object], expected: Permissions
) -> None:
    assert permissions_of(document) == expected
