"""Which page an address means."""

from tests.support.inspecting import Pages
from vespe.cli.inspect.site import FORMS, PAGES


def test_an_address_of_no_page_is_a_sentence(pages: Pages) -> None:
    answer = pages.answer("nowhere")
    assert answer.status == 404
    assert b"there is no such page" in answer.body
    assert pages.post("nowhere").status == pages.post("style.css").status == 404


def test_assets_are_served_with_their_types(pages: Pages) -> None:
    assert pages.answer("style.css").kind.startswith("text/css")
    assert pages.answer("script.js").kind.startswith("text/javascript")


def test_every_form_is_on_a_page() -> None:
    assert FORMS.keys() <= PAGES.keys()
