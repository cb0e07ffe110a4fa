"""The public path of the helpers for tests leads to the feature's own functions."""

from vespe import testing
from vespe.features import testing as code


def test_the_public_path_leads_to_the_features_functions() -> None:
    assert all(getattr(testing, name) is getattr(code, name) for name in testing.__all__)
