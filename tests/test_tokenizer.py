"""Tokens are counted only with data that is here already: tiktoken is never given the occasion to fetch."""

import hashlib
from pathlib import Path

from vespe.tokenizer import exact_count

NAME = hashlib.sha1(b"https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken").hexdigest()


def test_without_the_data_nothing_is_counted(tmp_path: Path) -> None:
    assert exact_count({"TIKTOKEN_CACHE_DIR": str(tmp_path)}) is None
    assert exact_count({"DATA_GYM_CACHE_DIR": str(tmp_path)}) is None
    assert exact_count({"TIKTOKEN_CACHE_DIR": ""}) is None


def test_data_with_other_bytes_is_not_given_to_tiktoken_which_would_replace_it(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"IQ== 0\n")
    assert exact_count({"TIKTOKEN_CACHE_DIR": str(tmp_path)}) is None
    assert (tmp_path / NAME).read_bytes() == b"IQ== 0\n"


def test_the_data_is_looked_for_where_tiktoken_keeps_it(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    assert exact_count({"TIKTOKEN_CACHE_DIR": str(tmp_path)}) is None
