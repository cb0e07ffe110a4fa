"""Templates: what a project says is text, and what nobody sees is an escape."""

import shlex
import time

import pytest

from vespe.features.inspector.rendering import Renderer, asset, byte_size, local_time, milliseconds


def test_every_value_is_escaped_and_what_is_unseen_is_shown() -> None:
    page = (
        Renderer("room")
        ._templates.from_string("{{ text }}|{{ nothing }}")
        .render(text="<b>\u202e\x1b[0m\u200b", nothing=None)
    )
    assert page == "&lt;b&gt;\\u202e\\x1b[0m\\u200b|"


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("talk.json", "talk.json"),
        ("two words.json", "'two words.json'"),
        ("$(touch x);.json", "'$(touch x);.json'"),
        ("it's.json", """'it'"'"'s.json'"""),
        ("--yes", "./--yes"),
    ],
)
def test_a_path_in_a_command_is_one_word_of_the_shell(name: str, word: str) -> None:
    template = Renderer("room")._templates.from_string("{{ text|path|safe }}")
    assert template.render(text=name) == word
    assert shlex.split(f"cat {word}")[1].removeprefix("./") == name


@pytest.mark.parametrize(
    ("name", "words"), [("say", "say"), ("a b", "'a b'"), ("-x", "-- -x"), ("-x y", "-- '-x y'")]
)
def test_a_name_in_a_command_is_no_option_of_it(name: str, words: str) -> None:
    template = Renderer("room")._templates.from_string("{{ text|word|safe }}")
    assert template.render(text=name) == words


def test_an_address_holds_each_word_whole() -> None:
    assert (
        Renderer("room").url("tool", "a/b", "../c?d#e", as_="x y", none=None, empty="")
        == "/room/tool/a%2Fb/..%2Fc%3Fd%23e?as=x+y"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.42, "0.4 ms"),
        (9.99, "10 ms"),
        (120.4, "120 ms"),
        (999, "1.0 s"),
        (2100, "2.1 s"),
        (60_000, "60 s"),
    ],
)
def test_durations_have_the_unit_that_reads_best(value: float, said: str) -> None:
    assert milliseconds(value) == said


def test_times_and_sizes_read_as_people_say_them() -> None:
    assert local_time("nonsense") == "nonsense"
    assert local_time("2020-01-02T03:04:05.678Z").startswith("Jan 0")
    assert local_time(time.strftime("%Y-%m-%dT%H:%M:%S%z")).count(":") == 2
    assert (byte_size(9_999), byte_size(20_480)) == ("9,999 B", "20 KiB")


def test_assets_are_small() -> None:
    assert sum(len(asset(name)) for name in ("style.css", "script.js", "icon.svg")) < 60_000
