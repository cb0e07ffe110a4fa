"""The table of features: what it says is there, and what a feature adds is gone with its folder."""

import pytest

import vespe
from vespe import features
from vespe.cli.verbs import VERBS
from vespe.errors import MissingFeature


@pytest.mark.parametrize("name", features.FEATURES)
def test_every_feature_is_there_and_says_where_to_begin(name: str) -> None:
    package = features.load(name)
    assert features.is_present(name) and package.__doc__
    begin = features.FEATURES[name]["begin"]
    assert features.load(name, begin.removesuffix(".py").replace("/", ".")).__doc__
    assert set(features.FEATURES[name]["needs"]) <= set(features.FEATURES)


@pytest.mark.parametrize("name", features.FEATURES)
def test_the_verbs_of_a_feature_are_commands(name: str) -> None:
    for words in features.FEATURES[name]["verbs"]:
        group, _, verb = words.rpartition(" ")
        assert verb in (VERBS[group][1] if group else VERBS)


def test_a_feature_that_nobody_knows_is_no_feature() -> None:
    with pytest.raises(KeyError):
        features.load("nonsense")


def test_what_is_missing_is_an_attribute_that_is_not_there() -> None:
    assert isinstance(MissingFeature("agents"), AttributeError)
    assert not hasattr(vespe, "NoSuchName")
