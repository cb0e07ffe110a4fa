"""`vespe kit import`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.descriptions import described
from tests.support.terminal import plain, vespe_on_a_terminal
from vespe.documents.strict_json import dump_json

Command = Callable[..., Any]
PATHS: dict[str, Any] = {
    "/pets": {"get": {"operationId": "list_pets", "tags": ["pet"], "summary": "List pets"}},
    "/pets/{id}": {
        "delete": {
            "operationId": "drop",
            "tags": ["write"],
            "parameters": [{"name": "id", "in": "path", "schema": {"type": "string"}}],
        }
    },
}


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "api.json").write_text(dump_json(described(PATHS)), encoding="utf-8")
    return str(tmp_path / "api.json")


def test_a_description_becomes_a_kit_that_lints_and_activates(
    command: Command, source: str
) -> None:
    made = command("kit", "import", source, "--id", "pets", "--json").document
    assert [tool["name"] for tool in made["tools"]] == ["list_pets", "drop"]
    assert command("lint", made["path"], "--severity", "error").code == 0
    assert command("kit", "activate", "pets").code == 0
    assert "https://api.example/pets/7" in command("tool", "run", "drop", "id=7", "--dry-run").out


def test_what_it_costs_is_said_and_how_to_take_a_part(command: Command, source: str) -> None:
    said = command("kit", "import", source, "--id", "pets", "--tag", "pet").err
    assert "about" in said
    assert "1 operation not selected" in said


def test_an_update_shows_what_changes_and_asks(command: Command, source: str) -> None:
    assert command("kit", "import", source, "--id", "pets").code == 0
    assert command("kit", "import", source, "--id", "pets").code == 2
    assert "nothing changed" in command("kit", "import", source, "--id", "pets", "--update").err
    del PATHS["/pets/{id}"]["delete"]["tags"]
    Path(source).write_text(dump_json(described({**PATHS, "/pets": {}})), encoding="utf-8")
    refused = command("kit", "import", source, "--id", "pets", "--update")
    assert refused.code == 6
    assert "breaking" in refused.out
    asked = command("kit", "import", source, "--id", "pets", "--update", "--json")
    assert [change["tool"] for change in asked.document["error"]["changes"]] == ["list_pets"]
    done = command("kit", "import", source, "--id", "pets", "--update", "--yes", "--json").document
    assert [change["tool"] for change in done["changes"]] == ["list_pets"]


def test_an_update_finds_a_linked_kit_and_a_hidden_one_is_named(
    command: Command, source: str, project: Path
) -> None:
    words = ("kit", "import", source, "--id", "shop")
    assert command(*words, "--into", "kits").code == 0
    unlinked = command(*words, "--update")
    assert unlinked.code == 2 and "remove --update" in unlinked.err
    linked = ("kit", "link", str(project / "kits/shop"))
    assert command(*linked).code == 0
    Path(source).write_text(dump_json(described({"/cats": PATHS["/pets"]})), encoding="utf-8")
    done = command(*words, "--update", "--yes", "--json")
    assert done.document["path"] == str(project / "kits/shop")
    missing = command(*words, "--into", "elsewhere", "--update")
    assert "is in " in missing.err and "add `--into kits`" in missing.err
    made = command(*words)
    assert made.code == 0
    used = f"your projects use the kit shop in {project / 'kits/shop'} instead of this one"
    assert f"{used} until you run `vespe kit unlink shop`" in " ".join(made.err.split())
    assert command(*words, "--update", "--json").document["path"] == str(project / "kits/shop")
    created = command("kit", "create", "shop", "--in", "others")
    assert used in " ".join(created.err.split()) and created.code == 0
    assert command("kit", "unlink", "shop").code == 0
    assert command("kit", "create", "git_and_programs", "--in", "others").err.count("instead") == 0


def test_an_update_of_a_kit_here_that_is_not_linked_names_the_option(
    command: Command, source: str, project: Path
) -> None:
    assert command("kit", "import", source, "--id", "shop", "--into", ".").code == 0
    said = command("kit", "import", source, "--id", "shop", "--update")
    assert said.code == 2 and f"is in {project / 'shop'}: add `--into .`" in said.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["missing.json", "--id", "x"], 1, "missing.json"),
        (["--id", "Bad"], 2, "is not a valid kit id"),
        (["--id", "x", "--kind", "opnapi"], 2, "openapi"),
        (["--id", "x", "--update"], 2, "there is no kit"),
        (["--id", "x", "--tag", "none"], 2, "its tags are"),
        (["--id", "x", "--server", "ftp://x"], 0, "cannot be called"),
        (["http://127.0.0.1:9/a.json", "--id", "x"], 6, "127.0.0.1"),
    ],
)
def test_what_goes_wrong_is_a_sentence(
    command: Command, source: str, words: list[str], code: int, said: str
) -> None:
    done = command("kit", "import", *([source] if words[0].startswith("--") else []), *words)
    assert (done.code, said in done.err) == (code, True), done.err


SECRETS = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}


def test_a_kit_with_a_secret_that_reads_and_writes_lints_without_an_error(
    command: Command, tmp_path: Path
) -> None:
    paths = {
        f"/{name}": {"get": {"summary": f"List {name}"}, "post": {"summary": f"Send {name}"}}
        for name in ("messages", "files")
    }
    document = described(paths, components={"securitySchemes": SECRETS}, security=[{"key": []}])
    (tmp_path / "api.json").write_text(dump_json(document), encoding="utf-8")
    made = command("kit", "import", str(tmp_path / "api.json"), "--id", "box", "--json").document
    assert command("lint", made["path"], "--severity", "error").code == 0


def test_a_kit_that_is_made_elsewhere_is_found_by_what_is_said_next(
    command: Command, source: str, project: Path
) -> None:
    for place, kit in (((), "own"), (("--into", "kits"), "pets")):
        shown = vespe_on_a_terminal(
            "kit", "import", source, "--id", kit, *place, cwd=project, columns=300
        )
        commands = plain(shown).split("next: ")[1].split("`")[1::2]
        assert len(commands) == (2 if place else 1)
        for line in commands:
            assert command(*line.split()[1:]).code == 0
        assert command("tool", "run", f"{kit}/list_pets", "--dry-run").code == 0


def test_files_that_may_hold_secrets_are_told_once_when_they_are_copied(
    command: Command, tmp_path: Path
) -> None:
    scripts = tmp_path / "notes/scripts"
    (scripts / "lib").mkdir(parents=True)
    (tmp_path / "notes/SKILL.md").write_text("---\nname: notes\n---\n", encoding="utf-8")
    for name in ("read.py", "write.py"):
        (scripts / name).write_text("print(1)\n", encoding="utf-8")
    (scripts / ".env").write_text("KEY=1\n", encoding="utf-8")
    (scripts / "server.pem").write_text(
        "-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----\n", encoding="utf-8"
    )
    (scripts / "lib/id_rsa").write_text("x\n", encoding="utf-8")
    said = command("kit", "import", str(tmp_path / "notes"), "--id", "notes").err
    lines = [line for line in said.splitlines() if "was copied into the kit" in line]
    assert [line.split()[2] for line in lines] == [
        "scripts/.env",
        "scripts/lib/id_rsa",
        "scripts/server.pem",
    ]
    assert "holds a private key" in lines[2] and "everyone who gets the kit" in lines[0]
