"""Which page an address means."""

import importlib

from tests.support.inspecting import Pages
from vespe.features.inspector.site import FORMS, MENU, PAGES


def test_an_address_of_no_page_is_a_sentence(pages: Pages) -> None:
    answer = pages.answer("nowhere")
    assert answer.status == 404
    assert b"there is no such page" in answer.body
    assert pages.post("nowhere").status == pages.post("style.css").status == 404


def test_assets_are_served_with_their_types(pages: Pages) -> None:
    assert pages.answer("style.css").kind.startswith("text/css")
    assert pages.answer("script.js").kind.startswith("text/javascript")


def test_every_page_has_its_module_and_every_menu_entry_its_page() -> None:
    for word, (module, _) in PAGES.items():
        page = importlib.import_module(f"vespe.features.inspector.{module}")
        assert callable(page.show)
        assert hasattr(page, "change") == (word in FORMS)
    assert {word for word, _ in MENU} <= PAGES.keys()
