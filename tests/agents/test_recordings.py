"""The public path of recordings leads to the feature's own classes."""

from vespe.agents import recordings
from vespe.features.agents import recordings as code


def test_the_public_path_leads_to_the_features_classes() -> None:
    assert recordings.RecordingProvider is code.RecordingProvider
    assert recordings.ReplayProvider is code.ReplayProvider
