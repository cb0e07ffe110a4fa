"""Which variants a schema has; `test_schemas.py` holds what becomes of them."""

from pathlib import Path

from tests.support.descriptions import described
from vespe.documents.strict_json import dump_json
from vespe.features.imports.openapi.documents import At, Documents
from vespe.features.imports.openapi.variants import Variants


def test_those_that_extend_a_schema_over_several_steps_are_its_variants(tmp_path: Path) -> None:
    where = "#/components/schemas"
    animal = {"discriminator": {"propertyName": "kind"}}
    schemas = {
        "Animal": animal,
        "Pet": {"allOf": [{"$ref": f"{where}/Animal"}]},
        "Cat": {"allOf": [{"$ref": f"{where}/Pet"}]},
    }
    (tmp_path / "a.json").write_text(
        dump_json(described({}, components={"schemas": schemas})), encoding="utf-8"
    )
    documents = Documents(str(tmp_path / "a.json"))
    found = Variants(documents).children(documents.resolve(f"{where}/Animal", documents.base))
    assert [reference for reference, _ in found] == [f"{where}/Pet", f"{where}/Cat"]


def test_values_come_from_the_mapping_and_else_from_the_name(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    variants = Variants(Documents(str(tmp_path / "a.json")))
    at = At(
        {
            "discriminator": {
                "propertyName": "k",
                "mapping": {"c": "Cat", "kitty": "#/components/schemas/Cat"},
            }
        },
        "",
    )
    assert variants.values(at, "#/components/schemas/Cat") == ["c", "kitty"]
    assert variants.values(at, "dogs/Dog.yaml") == ["Dog"]
