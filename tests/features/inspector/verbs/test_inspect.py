"""`vespe inspect` as a person uses it: the command, and its pages in a real browser."""

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.features.inspector.conftest import stock
from tests.features.inspector.test_gate import EVERY_PAGE
from tests.support.browser import Browser, Page
from tests.support.http_serving import gone, noted
from tests.support.inspecting import Inspecting, inspecting
from tests.support.ondisk import vespe


@pytest.fixture(scope="module")
def page(browser: Browser, inspected: Inspecting) -> Iterator[Page]:
    """A page of the inspector, with its cookie."""
    with browser.page() as opened:
        _let_in(opened, inspected)
        yield opened


def _let_in(page: Page, inspected: Inspecting) -> None:
    name, _, value = inspected.cookie.partition("=")
    cookie = {
        "name": name,
        "value": value,
        "path": inspected.room,
        "domain": "127.0.0.1",
        "httpOnly": True,
        "sameSite": "Strict",
    }
    page.send("Network.setCookie", **cookie)


def test_outside_a_project_it_says_so(home: Path, tmp_path: Path) -> None:
    done = vespe("inspect", cwd=tmp_path)
    assert done.returncode == 3
    assert "no project here" in done.stderr


def test_without_the_extra_it_says_which_one_and_serves_nothing(project: Path) -> None:
    code = (
        "import sys; sys.modules['jinja2'] = None; from vespe.cli import main; "
        "sys.exit(main(['inspect']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 2
    assert (
        "vespe[inspect]" in done.stderr
        and "pip install" in done.stderr
        and "[inspect]" in done.stderr
    )


def test_a_signal_ends_it_with_what_it_runs(project: Path) -> None:
    with inspecting(stock(project)) as fresh:
        fresh.open().get("tool/project_tools/tool-read")
        fresh.post("tool/project_tools/tool-read", {})
        caller = threading.Thread(
            target=fresh.post,
            args=("tool/project_tools/tool-nap", {"in:mark": str(project / "mark")}),
        )
        caller.start()
        pid = noted(project / "mark")
        assert fresh.stop() == 130
        caller.join()
    assert gone(pid)


def test_the_link_opens_the_pages_in_one_browser_and_leaves_its_address(
    project: Path, browser: Browser
) -> None:
    with inspecting(project) as fresh, browser.page() as first, browser.page() as second:
        first.open(fresh.link)
        assert fresh.link not in first.url
        assert "No tools yet" not in first.text  # the kits that come with Vespe are there
        second.open(fresh.link)
        assert "only the browser that opened its link" in second.text
        second.open(first.url)
        assert "only the browser that opened its link" in second.text
        assert first.run("document.cookie") == ""
        _no_other_server_of_this_machine_sees_the_cookie(first)


def _no_other_server_of_this_machine_sees_the_cookie(page: Page) -> None:
    heard = list[bytes]()
    with socket.create_server(("127.0.0.1", 0)) as other:

        def listen() -> None:
            connection, _ = other.accept()
            heard.append(connection.recv(65536))
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
            )
            connection.close()

        thread = threading.Thread(target=listen)
        thread.start()
        page.open(f"http://127.0.0.1:{other.getsockname()[1]}/")
        thread.join()
    assert b"GET / " in heard[0]
    assert b"cookie" not in heard[0].lower()
    assert b"referer" not in heard[0].lower()


def test_a_tool_is_found_and_run_by_keyboard_alone(page: Page, inspected: Inspecting) -> None:
    page.open(inspected.origin + inspected.room)
    page.press("/")
    page.type("say by hand")
    page.wait("document.querySelectorAll('.tools li').length == 1")
    page.run("document.querySelector('.tools a').focus(); 0")
    page.leads_by_key("Enter")
    page.wait("document.querySelector('#f1')")
    _tab_to(page, "#f1")
    page.type("by keyboard")
    page.leads_by_key("Control+Enter")
    assert "Run it?" in page.text
    _tab_to(page, "[value=once]")
    page.leads_by_key("Enter")
    assert "by keyboard" in page.run("document.querySelector('.outcome pre').innerText")


def test_what_a_tool_asks_is_answered_on_its_page(page: Page, inspected: Inspecting) -> None:
    page.open(f"{inspected.origin}{inspected.room}tool/project_tools/tool-order")
    page.leads("document.querySelector('form.inputs').requestSubmit()")
    assert "The tool order asks" in page.text and "Which <b>drink</b>?" in page.text
    _typed(page, "#q1", "x")
    page.leads("document.querySelector('[value=accept]').click()")
    assert "must have at least 2 characters" in page.text
    assert page.run("document.querySelector('#q1').value") == "x"
    _typed(page, "#q1", "tea")
    page.leads("document.querySelector('[value=accept]').click()")
    assert '"drink": "tea"' in page.run("document.querySelector('.outcome pre').innerText")
    page.open(f"{inspected.origin}{inspected.room}tool/project_tools/tool-order")
    page.leads("document.querySelector('form.inputs').requestSubmit()")
    page.leads("document.querySelector('[value=decline]').click()")
    assert "declined" in page.text


def _typed(page: Page, wanted: str, text: str) -> None:
    page.run(f"document.querySelector({wanted!r}).select(); 0")
    page.type(text)


def _tab_to(page: Page, wanted: str) -> None:
    for _ in range(40):
        if page.run(f"document.activeElement.matches({wanted!r})"):
            return
        page.press("Tab")
    raise AssertionError(f"no Tab leads to {wanted}")


def test_nothing_that_a_project_says_runs_in_the_page(page: Page, inspected: Inspecting) -> None:
    for place in EVERY_PAGE:
        page.open(inspected.origin + inspected.room + place)
        assert page.run("document.title").endswith("vespe")
        assert page.run("document.querySelectorAll('img[onerror], script:not([src])').length") == 0


def test_a_call_that_runs_is_stopped_with_all_its_processes(
    page: Page, inspected: Inspecting
) -> None:
    page.open(f"{inspected.origin}{inspected.room}tool/project_tools/tool-nap")
    page.run(f"document.querySelector('#f1').value = {str(inspected.project / 'stopped')!r}; 0")
    # The debugger is not heard while an answer is waited for, so the page itself presses the
    # button.
    page.run(
        "const pressed = setInterval(() => document.querySelector('.running button')?.click(), "
        "3000); 0"
    )
    page.run("document.querySelector('form.inputs .primary').click(); 0")
    assert gone(noted(inspected.project / "stopped"))
    assert "stopped" in page.text


def test_a_log_that_is_followed_shows_further_calls(page: Page, inspected: Inspecting) -> None:
    page.open(f"{inspected.origin}{inspected.room}log")
    page.run("document.querySelector('[data-follow]').click(); 0")
    rows = page.run("document.querySelectorAll('table.calls tbody tr').length")
    inspected.post("tool/project_tools/tool-read", {})
    page.wait(f"document.querySelectorAll('table.calls tbody tr').length > {rows}")


def test_a_page_is_read_without_script_and_its_forms_work(
    browser: Browser, inspected: Inspecting
) -> None:
    status, page = inspected.get("tool/project_tools/tool-read")
    assert status == 200
    assert re.search(rb"<button[^>]*hidden", page)  # what needs script is not there without it
    with browser.page(script=False) as plain:
        _let_in(plain, inspected)
        for place in EVERY_PAGE:
            plain.open(inspected.origin + inspected.room + place)
            assert plain.run("document.querySelectorAll('main h1').length") == 1, place
        plain.open(f"{inspected.origin}{inspected.room}tool/project_tools/tool-read")
        plain.click("#run .primary")
        assert "outcome" in plain.run("document.querySelector('#run').innerHTML")


AXE = Path(sys.prefix) / "node/node_modules/axe-core/axe.min.js"


@pytest.mark.skipif(
    not AXE.exists(),
    reason=f"NO AXE-CORE at {AXE}: nothing judges whether everybody can use "
    "the pages (./dev servers)",
)
def test_everybody_can_use_every_page(page: Page, inspected: Inspecting) -> None:
    judge, found = AXE.read_text(encoding="utf-8"), dict[tuple[str, str], object]()
    looks = {
        "wide": (1280, False, "{}"),
        "dark": (1280, True, _only(True)),
        "narrow": (400, False, _only(False)),
    }
    for place in EVERY_PAGE:
        page.open(inspected.origin + inspected.room + place)
        page.run(f"{judge};0")
        for look, (width, dark, options) in looks.items():
            page.size(width)
            page.dark(dark)
            if told := page.run(
                f"axe.run({options}).then((r) => r.violations.map((v) => [v.id, "
                "v.nodes.map((n) => n.html)]))"
            ):
                found[place, look] = told
            assert page.run("document.documentElement.scrollWidth") <= width, place
    page.size(1280)
    assert found == {}


def _only(colours: bool) -> str:
    """Return axe's options for colours alone, which differ by the theme, or for everything else,
    which differs by the width.
    """
    return (
        "{runOnly: ['color-contrast']}"
        if colours
        else "{rules: {'color-contrast': {enabled: false}}}"
    )


def test_the_theme_is_switched_and_kept(page: Page, inspected: Inspecting) -> None:
    page.open(inspected.origin + inspected.room)
    before = page.run("getComputedStyle(document.body).backgroundColor")
    page.run("document.querySelector('[data-theme-switch]').click(); 0")
    assert page.run("getComputedStyle(document.body).backgroundColor") != before
    page.open(inspected.origin + inspected.room + "log")
    assert page.run("getComputedStyle(document.body).backgroundColor") != before
    page.run("document.querySelector('[data-theme-switch]').click(); 0")
