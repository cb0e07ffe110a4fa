"""A kit as a skill, as the specification's own validator reads it where it is there."""

from pathlib import Path

from tests.features.packing.test_forms import shop_kit
from vespe.documents import safe_yaml
from vespe.features.packing.forms import read_kit
from vespe.features.packing.skill import skill


def test_a_skill_says_when_to_use_the_kit_and_what_each_tool_takes(tmp_path: Path) -> None:
    ((path, data),) = skill(read_kit(str(shop_kit(tmp_path)))).items()
    page = data.decode("utf-8")
    assert path == "shop-tools/SKILL.md"
    assert (
        "| `id` | integer | Its number. Required. |" in page
        and "It changes nothing." in page
        and "SHOP_KEY" in page
    )


def test_what_an_argument_is_and_that_it_is_required_are_two_sentences(tmp_path: Path) -> None:
    directory = shop_kit(tmp_path)
    for place in directory.glob("tool-*/config.json"):
        text = place.read_text(encoding="utf-8")
        place.write_text(text.replace('"Its number."', '"the number"'), encoding="utf-8")
    (data,) = skill(read_kit(str(directory))).values()
    assert "| `id` | integer | the number. Required. |" in data.decode("utf-8")


def test_its_front_matter_keeps_the_rules_of_the_specification(tmp_path: Path) -> None:
    (data,) = skill(read_kit(str(shop_kit(tmp_path)))).values()
    head = safe_yaml.parse_yaml(data.decode("utf-8").split("---\n")[1])
    assert isinstance(head, dict)
    assert set(head) <= {
        "name",
        "description",
        "license",
        "compatibility",
        "metadata",
        "allowed-tools",
    }
    assert (
        head["name"] == "shop-tools"
        and 0 < len(head["description"]) <= 1024
        and len(head["compatibility"]) <= 500
    )
    assert all(isinstance(value, str) for value in head["metadata"].values())


def test_words_that_would_break_a_table_or_the_front_matter_do_not(tmp_path: Path) -> None:
    directory = shop_kit(tmp_path)
    text = (
        (directory / "kit_config.json")
        .read_text(encoding="utf-8")
        .replace("A kit for a test.", 'a: \\"b\\" | c # d')
    )
    (directory / "kit_config.json").write_text(text, encoding="utf-8")
    (data,) = skill(read_kit(str(directory))).values()
    head = safe_yaml.parse_yaml(data.decode("utf-8").split("---\n")[1])
    assert isinstance(head, dict) and head["description"].startswith('a: "b" | c # d')
