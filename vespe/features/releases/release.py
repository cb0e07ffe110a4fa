"""One release of a kit: what is looked at before, which version it is to be, and the commit and tag
that make it.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from vespe import defaults
from vespe.calls.log import CallLog
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.documents import strict_json
from vespe.errors import InvalidTool, Refused, UsageError, VespeError
from vespe.features.examples import examples, tested
from vespe.features.examples.examples import ExampleResult
from vespe.features.lint.audit import Audit
from vespe.features.lint.findings import Finding
from vespe.features.lint.settings import Settings
from vespe.features.releases import changelog, versions
from vespe.features.releases.versions import Bump, Version
from vespe.files import atomic
from vespe.git import revisions
from vespe.git.author_repository import AuthorRepository
from vespe.kits import compared_versions, edited
from vespe.kits.compared_versions import Comparison
from vespe.lazy import shutil
from vespe.models import JsonObject
from vespe.processes.workers import Workers
from vespe.projects.kit_project import project_of_kit
from vespe.projects.workspace import open_workspace
from vespe.records import dataclass
from vespe.schemas.comparison.contracts import Change

Wanted: TypeAlias = Bump | None
"""The bump that the author asks for; None leaves it to what changed."""
_NEXT: Final = "`vespe kit release --bump {bump}` releases {version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What a release is to be. `previous` is the version of the last tag, None at the first
    release; `files` are written and committed, by their place in the kit, and are empty where the
    last commit has them already.
    """

    kit_id: str
    directory: str
    branch: str
    previous: Version | None
    version: Version
    needed: Bump
    compared: tuple[Comparison, ...]
    files: dict[str, bytes]
    programs: tuple[str, ...]

    @property
    def tag(self) -> str:
        """The name of the tag."""
        return self.version.tag

    @property
    def message(self) -> str:
        """The message of the commit and of the tag."""
        return f"Release {self.kit_id} {self.tag}"

    def to_json(self) -> JsonObject:
        """Return the release as `kit release --json` prints it."""
        return {
            "kit_id": self.kit_id,
            "previous": str(self.previous) if self.previous else None,
            "version": str(self.version),
            "needed": self.needed,
            "branch": self.branch,
            "tag": self.tag,
            "files": sorted(self.files),
            "programs": list(self.programs),
            "tools": [one.to_json() for one in self.compared],
        }


def kit_of(which: str) -> tuple[str, JsonObject]:
    """Return the directory of a kit that its author edits, and its kit_config.json.

    Raises as `edited.directory_of`, and UsageError where its version is not X.Y.Z.
    """
    directory = edited.directory_of(which)
    path = os.path.join(directory, defaults.KIT_CONFIG_FILE)
    document = strict_json.read_object(path)
    if versions.read_version(document.get("version", "0.0.0")) is None:
        raise UsageError(
            f"the version in {path} is {document['version']!r}, which is not X.Y.Z",
            hint='write one such as "version": "0.1.0"',
        )
    return directory, document


@contextlib.contextmanager
def committed(directory: str) -> Iterator[str]:
    """Return a private copy of a kit as the last commit has it, which is all that a tag has.

    What git ignores and what it was told not to look at (`--assume-unchanged`) is in the work tree
    and not in the copy. What is raised while the copy is there names the kit's own files, since
    nobody finds the copy afterwards. Raises Refused where the last commit does not contain the kit,
    and otherwise as `revisions.checked_out` does.
    """
    called = os.path.basename(os.path.realpath(directory))
    with contextlib.ExitStack() as closing:
        checked_out = revisions.checked_out("HEAD:./", cwd=directory, called=called)
        try:
            copy = closing.enter_context(checked_out)
        except UsageError:
            raise Refused(
                f"the last commit does not contain {directory}",
                hint="commit it (is it in .gitignore?)",
            ) from None
        try:
            yield copy
        except VespeError as error:
            _name_own_files(error, copy, directory)
            raise


def _name_own_files(error: VespeError, copy: str, directory: str) -> None:
    for name, value in vars(error).items():  # the fields of each class of errors, too
        setattr(error, name, with_own_paths(value, copy, directory))
    error.args = (error.message, *error.args[1:])


def with_own_paths(value: Any, copy: str, directory: str) -> Any:
    """Return a value in which each path in a copy of a kit is the one of the kit itself."""
    if isinstance(value, str):
        return value.replace(copy, directory)
    if isinstance(value, tuple):
        return tuple(with_own_paths(item, copy, directory) for item in value)
    if isinstance(value, list):
        return [with_own_paths(item, copy, directory) for item in value]
    if isinstance(value, dict):
        return {key: with_own_paths(item, copy, directory) for key, item in value.items()}
    return value


def lint(directory: str) -> list[Finding]:
    """Return the errors that lint finds in a copy of a kit, with their paths in the copy."""
    run = Audit(Settings(least="error"))
    return [found for found in run.findings([directory]) if found.severity == "error"]


def test(directory: str, *, progress: Callable[[str], None]) -> list[ExampleResult]:
    """Run the examples of all tools in a copy of a kit, and return what became of each.

    Raises as `project_of_kit` and a call do.
    """
    root = project_of_kit(directory)
    try:
        return _tested(root, progress)
    finally:
        shutil.rmtree(root, ignore_errors=True)  # the copy has its place but once


def _tested(root: str, progress: Callable[[str], None]) -> list[ExampleResult]:
    workspace = open_workspace(root)
    log = CallLog(workspace.root, purpose="test")
    path = CallPath(workspace=workspace, registry=ToolRegistry(), progress=progress, log=log)
    tools, results = tested.chosen(workspace, ())
    with Workers() as workers:
        path = replace(path, workers=workers)
        with contextlib.closing(examples.run_all(path, tools, jobs=os.cpu_count() or 1)) as run:
            for found in run:
                results += found
    return results


def planned(
    repository: AuthorRepository, document: JsonObject, *, bump: Wanted, sign: bool
) -> Release:
    """Return the next release of the kit in a repository.

    Raises Refused where there is nothing to release, where the bump is smaller than what changed
    asks for, and where the tag exists.
    """
    branch, kit_id = repository.require_branch(), str(document.get("kit_id"))
    own = versions.read_version(document.get("version", "0.0.0")) or Version(0, 0, 0)
    previous = versions.latest(repository.tags())
    with committed(repository.directory) as copy:
        compared = _compared(repository, previous, copy)
    needed: Bump = versions.required_bump(compared, previous) if previous else "patch"
    version = _next(previous, own, bump=bump, needed=needed)
    if previous is not None and not repository.changed_since(previous.tag):
        raise Refused(
            f"nothing changed in this kit since {previous.tag}, so there is nothing to release",
            hint="a tag applies to the whole repository, so a kit with its own versions needs its "
            "own repository",
        )
    if previous is not None and not versions.is_enough(previous, version, needed):
        raise Refused(
            _too_small(previous, version, needed, compared),
            hint=_NEXT.format(bump=needed, version=previous.bumped(needed)),
        )
    if repository.has_tag(version.tag):
        raise Refused(
            f"the tag {version.tag} already exists",
            hint="it is not on this branch: release from the branch that has it, or choose a "
            "larger --bump",
        )
    release = Release(
        kit_id=kit_id,
        directory=repository.directory,
        branch=branch,
        previous=previous,
        version=version,
        needed=needed,
        compared=tuple(compared),
        files={},
        programs=tuple(repository.programs(sign=sign)),
    )
    return replace(release, files=_files(release, document))


def _compared(
    repository: AuthorRepository, previous: Version | None, copy: str
) -> list[Comparison]:
    """Compare the kit, a copy of which is at `copy`, with what it was at the last tag; where it was
    not there all tools are new.
    """
    revision = f"refs/tags/{previous.tag}" if previous else ""
    config = f"{revision}:./{defaults.KIT_CONFIG_FILE}"
    if previous is None or not repository.answers("cat-file", "-e", config):
        new = (Change(part="tool", verdict="compatible", message="is new"),)
        return [
            Comparison(tool=entry.name or entry.uid, uid=entry.uid, changes=new)
            for entry in edited.list_tools(copy)
        ]
    try:
        return compared_versions.compare(f"{revision}:./", copy, cwd=repository.directory)
    except InvalidTool as error:
        if str(error.details.get("path")).startswith(os.path.join(copy, "")):
            raise
        message = f"cannot be compared, because it was broken at {previous.tag}"
        unknown = Change(part="tool", verdict="unknown", message=message, side="old")
        return [Comparison(tool=error.uid, uid=error.uid, changes=(unknown,))]


def _next(previous: Version | None, own: Version, *, bump: Wanted, needed: Bump) -> Version:
    """Return the next version: the one that kit_config.json says already where it is further on
    than the last tag, and else the last one with the bump.
    """
    base = max(own, previous) if previous else own
    if bump is not None:
        return (previous or own).bumped(bump)
    if previous is None:
        return own if own > Version(0, 0, 0) else Version(0, 1, 0)
    return base if base > previous else previous.bumped(needed)


def _too_small(
    previous: Version, version: Version, needed: Bump, compared: Sequence[Comparison]
) -> str:
    breaking = [line for line in changelog.lines_of(compared) if line.startswith("- **Breaking:**")]
    if not breaking:
        return (
            f"{version} is too small a step from {previous}: the changes require a {needed} version"
        )
    first = breaking[0].removeprefix("- **Breaking:** ")
    more = f" ({len(breaking) - 1} more)" if len(breaking) > 1 else ""
    return (
        f"{version} is too small a step from {previous}: a breaking change requires a {needed} "
        f"version. {first}{more}"
    )


def _files(release: Release, document: JsonObject) -> dict[str, bytes]:
    """Return the files that the release writes, where they are not so already."""
    made = {}
    config = os.path.join(release.directory, defaults.KIT_CONFIG_FILE)
    if document.get("version") != str(release.version):
        text = _text(config)
        made[defaults.KIT_CONFIG_FILE] = with_version(text, document, str(release.version))
    place = os.path.join(release.directory, changelog.FILE)
    before = _text(place) if os.path.lexists(place) else ""
    if not changelog.has_section(before, str(release.version)):
        lines = changelog.lines_of(release.compared)
        date = time.strftime("%Y-%m-%d", time.gmtime())
        made[changelog.FILE] = changelog.with_section(before, str(release.version), date, lines)
    return {name: text.encode("utf-8") for name, text in made.items()}


def _text(path: str) -> str:
    if os.path.islink(path):
        raise Refused(
            f"{path} is a link, but a release writes to the file itself",
            hint="replace the link with the file",
        )
    return strict_json.decode_utf8(atomic.read_bytes(path), path)


def with_version(text: str, document: JsonObject, version: str) -> str:
    """Return a kit_config.json with another version and every other byte as it was; written anew
    where that cannot be.
    """
    wanted = {**document, "version": version}
    for found in re.finditer(r'("version"\s*:\s*")[^"\\]*(")', text):
        made = f"{text[: found.end(1)]}{version}{text[found.start(2) :]}"
        if strict_json.parse_object(made.encode("utf-8"), path="") == wanted:
            return made
    return strict_json.dump_json(wanted)


def made(repository: AuthorRepository, release: Release, *, sign: bool) -> str:
    """Commit and tag a release, and return the commit's id; nothing is pushed."""
    return repository.released(release.files, tag=release.tag, message=release.message, sign=sign)
