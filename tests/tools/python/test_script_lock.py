"""What a lock means: which files on this machine, for which script, and what is refused."""

from pathlib import Path

import pytest

from vespe.errors import InvalidDocument
from vespe.tools.python.script_lock import Lock, find_unpinned, read_requirements
from vespe.tools.python.script_metadata import Metadata

BY_UV = (Path(__file__).parents[2] / "cases" / "script_locks" / "by_uv.lock").read_bytes()
"""What uv 0.13.9 wrote for `httpx[http2]>=0.20` and `click; python_version > '3'`."""
ASKED = Metadata(
    requires_python=">=3.11", dependencies=("click; python_version > '3'", "httpx[http2]>=0.20")
)
HEAD = 'version = 1\nrequires-python = ">=3.11"\n[manifest]\nrequirements = [{ name = "a" }]\n'
FILE = 'wheels = [{ url = "https://x/a.whl", hash = "sha256:00" }]\n'


def test_a_lock_names_every_package_with_its_hashes() -> None:
    lines = Lock(data=BY_UV, metadata=ASKED, path="l").lines()
    assert [line.split("==")[0] for line in lines] == [
        "anyio",
        "certifi",
        "click",
        "h11",
        "h2",
        "hpack",
        "httpcore",
        "httpx",
        "hyperframe",
        "idna",
        "typing-extensions",
    ]
    assert all(line.count(" --hash=sha256:") == 2 for line in lines)


def test_an_extra_that_nobody_asks_for_brings_nothing() -> None:
    plain = BY_UV.replace(b'extras = ["http2"], ', b"")
    asked = Metadata(requires_python=">=3.11", dependencies=("click", "httpx>=0.20"))
    assert not [
        line for line in read_requirements(plain, asked, path="l") if line.startswith("h2==")
    ]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Metadata(dependencies=("click", "httpx[http2]>=0.21")), "httpx"),
        (Metadata(dependencies=("click", "httpx>=0.20")), "httpx"),
        (Metadata(dependencies=("httpx[http2]>=0.20",)), "click"),
        (Metadata(dependencies=("click", "httpx[http2]>=0.20", "idna")), "idna"),
        (
            Metadata(requires_python=">=3.12", dependencies=ASKED.dependencies),
            "requires-python >=3.12",
        ),
    ],
)
def test_a_lock_of_another_state_of_the_script_is_refused(asked: Metadata, said: str) -> None:
    with pytest.raises(
        InvalidDocument, match=f"locks something else than its script asks for: .*{said}"
    ) as caught:
        read_requirements(BY_UV, asked, path="main.py.lock")
    assert "vespe tool lock" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version = ", "is not TOML"),
        ("version = 2", "its `version` is 2, not 1"),
        ("version = 1\nmanifest = 3", "is not a lock as uv writes it"),
        (HEAD, "is not whole: it names a"),
        (
            HEAD + '[[package]]\nname = "a"\nversion = "1"\nsource = { registry = "r" }\n',
            "without a hash",
        ),
        (
            HEAD + '[[package]]\nname = "a"\nversion = "1"\nsource = { git = "g" }\n' + FILE,
            "without a hash",
        ),
        (HEAD + "[[package]]\nname = 7\n", "is not a lock as uv writes it"),
    ],
)
def test_what_is_no_lock_is_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InvalidDocument, match=said):
        read_requirements(text.encode(), Metadata(dependencies=("a",)), path="main.py.lock")


def test_of_two_versions_the_one_for_this_machine_counts() -> None:
    two = "".join(
        f'[[package]]\nname = "a"\nversion = "{version}"\nresolution-markers = ["{marker}"]\n'
        f'source = {{ registry = "r" }}\n{FILE}'
        for version, marker in (("1", "python_version < '3'"), ("2", "python_version >= '3'"))
    )
    assert read_requirements((HEAD + two).encode(), Metadata(dependencies=("a",)), path="l") == (
        "a==2 --hash=sha256:00",
    )


def test_only_an_exact_version_or_a_hash_is_pinned() -> None:
    loose = ["a", "a>=1", "a==1.*", "a @ https://x/a.whl", "not a requirement!"]
    assert [
        *find_unpinned(
            [*loose, "a==1", "a[x]===1; python_version > '3'", "a @ https://x/a.whl#sha256=00"]
        )
    ] == loose


def test_a_lock_of_a_file_on_this_machine_as_uv_writes_it_means_that_file(tmp_path: Path) -> None:
    wheel = tmp_path / "a dir" / "zz_tiny-1.0-py3-none-any.whl"
    lock = (
        'version = 1\nrevision = 5\nrequires-python = ">=3.11"\n\n[manifest]\n'
        f'requirements = [{{ name = "zz-tiny", path = "{wheel}" }}]\n\n[[package]]\n'
        f'name = "zz-tiny"\nversion = "1.0"\nsource = {{ path = "{wheel}" }}\nwheels = [\n'
        '    { filename = "zz_tiny-1.0-py3-none-any.whl", hash = "sha256:f2" },\n]\n'
    ).encode()
    for address in (wheel.as_uri(), f"file://{str(wheel).replace(' ', '%20')}"):
        asked = Metadata(dependencies=(f"zz-tiny @ {address}",))
        assert read_requirements(lock, asked, path="l") == (
            f"zz-tiny @ {wheel.as_uri()} --hash=sha256:f2",
        )
    other = Metadata(dependencies=("zz-tiny @ file:///elsewhere.whl",))
    with pytest.raises(InvalidDocument, match="locks something else"):
        read_requirements(lock, other, path="l")
