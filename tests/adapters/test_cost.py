"""Tokens are counted only with data that is here already: tiktoken is never given the occasion to
fetch.
"""

import base64
import hashlib
import inspect
from pathlib import Path

import pytest
from tiktoken_ext import openai_public  # type: ignore[import-untyped]  # it has no types

from tests.support.installs import CHECKOUT, Install, install_without
from vespe.adapters import cost
from vespe.adapters.cost import exact_count

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


ADDRESS = "http://127.0.0.1:9/bytes.tiktoken"
PLUGIN = """
from tiktoken.load import load_tiktoken_bpe

def encoding():
    ranks = load_tiktoken_bpe({address!r}, expected_hash={sha256!r})
    special = {{"<|endoftext|>": len(ranks)}}
    return {{"name": "bytes", "pat_str": ".", "mergeable_ranks": ranks, "special_tokens": special}}

ENCODING_CONSTRUCTORS = {{"bytes": encoding}}
"""
COUNTING = """
from vespe.adapters import cost

cost.ENCODING, cost._ADDRESS, cost._SHA256 = "bytes", {address!r}, {sha256!r}
count = cost.exact_count()
print(count and [count("abc"), count("<|endoftext|>"), count(chr(0xD800))])
"""


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program that counts tokens with a small encoding of tiktoken's: each byte is one. Its data
    is where tiktoken keeps data, in place of the 3.6 MB that a test must not fetch.
    """
    data = b"".join(base64.b64encode(bytes([n])) + b" %d\n" % n for n in range(256))
    told = {"address": ADDRESS, "sha256": hashlib.sha256(data).hexdigest()}
    (tmp_path / hashlib.sha1(ADDRESS.encode()).hexdigest()).write_bytes(data)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    (tmp_path / "plugins/tiktoken_ext").mkdir(parents=True)
    (tmp_path / "plugins/tiktoken_ext/bytes.py").write_text(PLUGIN.format(**told), encoding="utf-8")
    return f"import sys; sys.path.append({str(tmp_path / 'plugins')!r})" + COUNTING.format(**told)


def test_with_the_data_every_text_is_counted_special_ones_and_lone_surrogates_too(
    counting: str,
) -> None:
    # a lone surrogate counts as U+FFFD, which UTF-8 says in three bytes
    assert Install(CHECKOUT).printed(counting) == "[3, 13, 3]"


def test_without_the_library_nothing_is_counted(counting: str, tmp_path: Path) -> None:
    install = install_without(tmp_path / "bare", "tiktoken")
    assert install.printed(counting) == "None"


def test_the_data_is_that_which_tiktoken_asks_for() -> None:
    written = inspect.getsource(openai_public.o200k_base)
    assert openai_public.o200k_base.__name__ == cost.ENCODING
    assert f'"{cost._ADDRESS}"' in written and f'"{cost._SHA256}"' in written
