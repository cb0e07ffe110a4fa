"""What a project would run, as `vespe trust` shows it; the page gives no yes."""

from pathlib import Path

from tests.features.inspector.conftest import stock
from tests.support.inspecting import Pages
from tests.support.ondisk import approve_bytes, vespe
from vespe.features.inspector.site import FORMS


def test_a_place_that_was_trusted_is_told_with_every_tool(pages: Pages) -> None:
    page = pages.get("trust")
    assert "its files may change, and it still runs" in page
    assert "say() in main.py" in page


def test_what_changed_since_the_approval_is_shown_as_a_difference(project: Path) -> None:
    stock(project)
    (project / ".vespe/tools/tool-nap/notes.txt").unlink()
    assert vespe("untrust", cwd=project).returncode == 0
    assert "You have not approved it yet" in Pages(project).get("trust")
    assert vespe("trust", "--yes", cwd=project).returncode == 0
    assert "You approved exactly these bytes" in Pages(project).get("trust")
    script = project / ".vespe/tools/tool-say/main.py"
    script.write_text(
        script.read_text(encoding="utf-8").replace("inputs['text']", "'other'"), encoding="utf-8"
    )
    page = Pages(project).get("trust")
    assert "It changed since you approved it" in page
    assert "+    return &#39;other&#39;" in page
    assert approve_bytes(project)


def test_there_is_no_form_for_a_yes(pages: Pages) -> None:
    assert "trust" not in FORMS
    assert pages.post("trust", yes="1").status == 404
