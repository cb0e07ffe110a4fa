"""Tokens are counted only with data that is here already: tiktoken is never given the occasion to
fetch.
"""

import hashlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from vespe.adapters import cost
from vespe.adapters.cost import exact_count
from vespe.lazy import LazyModule

NAME = hashlib.sha1(
    b"https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
).hexdigest()


def test_without_the_data_nothing_is_counted(tmp_path: Path) -> None:
    assert exact_count({"TIKTOKEN_CACHE_DIR": str(tmp_path)}) is None
    assert exact_count({"DATA_GYM_CACHE_DIR": str(tmp_path)}) is None
    assert exact_count({"TIKTOKEN_CACHE_DIR": ""}) is None


def test_data_with_other_bytes_is_not_given_to_tiktoken_which_would_replace_it(
    tmp_path: Path,
) -> None:
    (tmp_path / NAME).write_bytes(b"IQ== 0\n")
    assert exact_count({"TIKTOKEN_CACHE_DIR": str(tmp_path)}) is None
    assert (tmp_path / NAME).read_bytes() == b"IQ== 0\n"


def test_the_data_is_looked_for_where_tiktoken_keeps_it(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    assert exact_count({"TIKTOKEN_CACHE_DIR": str(tmp_path)}) is None


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A directory whose data has the bytes that are expected: a stand-in for the 3.6 MB that a test must not fetch."""
    (tmp_path / NAME).write_bytes(b"data")
    monkeypatch.setattr(cost, "_SHA256", hashlib.sha256(b"data").hexdigest())
    return {"TIKTOKEN_CACHE_DIR": str(tmp_path)}


def test_with_the_data_every_text_is_counted_special_ones_and_lone_surrogates_too(
    whole: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = SimpleNamespace(
        encode=lambda text, disallowed_special: text.encode("utf-8").split(b" ")
    )
    monkeypatch.setattr(cost, "tiktoken", SimpleNamespace(get_encoding=lambda name: encoding))
    count = exact_count(whole)
    assert count is not None and count("a <|endoftext|> \ud800") == 3


def test_without_the_library_nothing_is_counted(
    whole: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    monkeypatch.setattr(cost, "tiktoken", LazyModule("tiktoken"))
    assert exact_count(whole) is None
