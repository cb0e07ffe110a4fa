import pytest

from vespe.documents import safe_yaml
from vespe.errors import InvalidDocument


def test_yaml_is_read_with_the_safe_loader() -> None:
    assert safe_yaml.parse_yaml(b"a: [1, x]\n") == {"a": [1, "x"]}
    assert safe_yaml.parse_yaml("'é'") == "é"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: &x 1\nb: *x\n", "alias"),
        ("!!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("a: [1\n", "expected"),
        ("a: 1\n---\nb: 2\n", "found another document"),
        ("[" * 5000, "deeper than 64"),
        ("a: \x00", "not YAML"),
        ("x" * 50, "larger than 40"),
        (b"\xff", "not UTF-8"),
        ("2024-99-99", "not YAML"),
        ("!!int ''", "not YAML"),
        ("!!bool x", "not YAML"),
        ("!!timestamp x", "not YAML"),
        ("1:" * 300 + "1.5", "not YAML"),
        ("0x" + "f" * 2000, "a number of more than 1,000 characters"),
        ("a: " + "59:" * 2000 + "1", "a number of more than 1,000 characters"),
        ("!!int '" + "59:" * 2000 + "1'", "a number of more than 1,000 characters"),
        ("a: [.nan]", "a number that JSON cannot represent"),
        (".inf: 1", "a number that JSON cannot represent"),
        ('a: {"\\ud800": 1}', "not YAML"),
    ],
)
def test_yaml_that_is_unsafe_or_broken_is_refused(text: str | bytes, says: str) -> None:
    with pytest.raises(InvalidDocument, match=says):
        safe_yaml.parse_yaml(text, path="f.yaml", limit=40 if says.startswith("larger") else 10_000)


def test_long_text_of_digits_is_text() -> None:
    digits = "1" * 2000
    assert safe_yaml.parse_yaml(f"a: '{digits}'\nb: 3 {digits}\n") == {
        "a": digits,
        "b": f"3 {digits}",
    }


def test_a_character_that_stands_as_two_escapes_is_one_as_in_json() -> None:
    assert safe_yaml.parse_yaml('{"a": ["\\ud83d\\ude00"], "\\ud83d\\ude00": 1}') == {
        "a": ["\U0001f600"],
        "\U0001f600": 1,
    }
