"""Lint over a tool directory, a kit, a project or a file of definitions; nothing that is linted is
imported or run.
"""

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from vespe import defaults
from vespe.calls import policy_rules
from vespe.documents.pointers import pointer_to
from vespe.errors import InvalidDocument, VespeError
from vespe.features.lint import RULES, foreign, subjects
from vespe.features.lint import settings as lint_settings
from vespe.features.lint.base import AnyRule, Found, Outline, Rule, SetRule, Subject
from vespe.features.lint.findings import Finding
from vespe.features.lint.foreign import Definition, ForeignFile
from vespe.features.lint.judged_directory import About, JudgedDirectory
from vespe.features.lint.judged_set import JudgedSet
from vespe.features.lint.judgements import Judgement, found_by
from vespe.features.lint.paths import LintPath, places, tool_directories, touched
from vespe.features.lint.rules.flow import Flow, flow_of
from vespe.features.lint.settings import Settings, Wrong
from vespe.features.lint.sources import Ignores, Source, Told, finding, placed
from vespe.kits import roots
from vespe.models import JsonObject, Tool
from vespe.projects import project, workspace
from vespe.projects.view import View
from vespe.tools.directory import Problem
from vespe.tools.effects import FlowContext

_Group = tuple[list[Outline], list[Source | None], list[str]]
"""The outlines of one set, the files of those that are not in a tool directory, and the digests of
those that are.
"""


class Audit:
    """One run of lint; `tools` counts the definitions that were judged, `broken_file` is the error
    of the last file that was none.

    `changed` (real paths and the directories above them) restricts what is judged; the rest is only
    compared with. `progress` is called with the number of definitions so far. With `keeps` what was
    found in large directories of tools is kept in the user's cache, and not looked for again.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        changed: Collection[str] | None = None,
        progress: Callable[[int], None] | None = None,
        keeps: bool = False,
    ) -> None:
        self.tools = 0
        self.keeps = keeps
        self.broken_file: str | None = None
        self._given = self._settings = settings
        self._changed, self._progress = changed, progress

    def findings(self, paths: Iterable[str]) -> Iterator[Finding]:
        """Judge everything at the paths, one definition after another. Raises NotFound before
        anything else is judged.
        """
        for place in list(places(paths)):
            yield from _Run(self, place).findings()

    def counted(self) -> None:
        """Count one definition."""
        self.tools += 1
        if self._progress:
            self._progress(self.tools)

    @property
    def given(self) -> Settings:
        """What the command line asked for."""
        return self._given

    @property
    def changed(self) -> Collection[str] | None:
        """What may be judged."""
        return self._changed


def flows(paths: Iterable[str]) -> Iterator[Flow]:
    """Return how the tools of each place could carry data away, where they can. Raises NotFound."""
    for place in list(places(paths)):
        run = _Run(Audit(Settings()), place)
        yield from run.flows()


class _Run:
    """The judging of one place, with the configuration of the project that it stands in."""

    def __init__(self, audit: Audit, place: LintPath) -> None:
        self._audit, self._place = audit, place
        self._settings = audit.given
        self._rules: list[Rule] = []
        self._set_rules: list[SetRule] = []
        self._sets: dict[str, _Group] = {}
        self._ignores: dict[str, Ignores] = {}
        self._project_ignores: Ignores | None = None
        self._view, self._around = View(), FlowContext(own_hosts=policy_rules.users_own_hosts())

    def findings(self) -> Iterator[Finding]:
        """Judge the place: its configuration, each definition, then all of them together."""
        place = self._place
        wrong = list(self._configure())
        rules = list(self._settings.rules())
        self._rules = [rule for rule in rules if isinstance(rule, Rule)]
        self._set_rules = [rule for rule in rules if isinstance(rule, SetRule)]
        if place.kind in ("project", "project_config"):
            yield from self._project_config(wrong)
        if place.kind in ("kit", "kit_config"):
            yield from self._kit_config()
        if place.kind == "project":
            yield from self._project()
        elif place.kind in ("kit", "tools"):
            yield from self._directory(
                place.path, scope=place.kit_id or place.path, kit_id=place.kit_id
            )
        elif place.kind == "tool":
            above, uid = os.path.split(place.path)
            judged = self._judged_directory(above, [uid], scope="", kit_id=place.kit_id)
            yield from self._tool(judged, uid)
        elif place.kind == "file":
            yield from self._file()
        if place.kind not in ("project_config", "kit_config"):
            yield from self._together()
        yield from self._unused()

    def flows(self) -> Iterator[Flow]:
        """Return how the tools of the place could carry data away, where they can."""
        for _ in self.findings():
            pass
        found = (flow_of(group[0], self._settings.bounds) for group in self._sets.values())
        yield from (flow for flow in found if flow is not None)

    # Configuration

    def _configure(self) -> Iterator[Wrong]:
        """Take the settings of the project that the place stands in, and give what is wrong with
        them.
        """
        root = _root_of(self._place)
        if root is None:
            return
        document, _ = subjects.read_config(project.config_path(root))
        if document is not None:
            self._around = self._around._replace(held=document.get("sandbox") == "require")
            self._settings, wrong = lint_settings.of_project(document, self._audit.given)
            self._project_ignores = Ignores(
                Source(path=shown(project.config_path(root))), self._settings.ignored
            )
            yield from wrong

    def _project_config(self, wrong: list[Wrong]) -> Iterator[Finding]:
        root = (
            self._place.path
            if self._place.kind == "project"
            else os.path.dirname(os.path.dirname(os.path.abspath(self._place.path)))
        )
        path = shown(project.config_path(root))
        if not os.path.lexists(path) or not touched(path, self._audit.changed):
            return
        document, problems = subjects.read_config(path)
        problems += _problems_of_project(root) if document is not None else []
        source = Source(path=path)
        yield from placed(
            self._judged(
                subjects.of_config(path, api="project", problems=problems, document=document),
                source,
            )
        )
        yield from placed(self._said("layout-lint-config", wrong, source))
        if self._place.kind == "project":
            yield from placed(self._said("layout-view", self._wrong_view(root), source))

    def _wrong_view(self, root: str) -> list[Wrong]:
        """Say what `tools` of the project's configuration makes wrong of the tools that can be
        loaded.
        """
        try:
            opened = workspace.open_workspace(root)
            self._view = opened.view
        except VespeError:
            return []
        return list(self._view.wrong(_loadable(opened))) if self._view.rules else []

    def _kit_config(self) -> Iterator[Finding]:
        directory = (
            self._place.path
            if self._place.kind == "kit"
            else os.path.dirname(os.path.abspath(self._place.path))
        )
        path = shown(os.path.join(directory, defaults.KIT_CONFIG_FILE))
        if touched(path, self._audit.changed):
            document, problems = subjects.read_config(path)
            problems += (
                _problems_of_kit(document, os.path.basename(os.path.abspath(directory)))
                if document is not None
                else []
            )
            subject = subjects.of_config(path, api="kit", problems=problems, document=document)
            yield from placed(self._judged(subject, Source(path=path)))

    # What there is to judge

    def _project(self) -> Iterator[Finding]:
        root = self._place.path
        own = shown(project.tools_dir(root))
        try:
            scopes = workspace.open_workspace(root).scopes
        except VespeError:
            scopes = ()
        named: dict[str, str] = {}
        ordered = [scope for scope in scopes if scope.ordered]
        if not any(scope.name == defaults.PROJECT_TOOLS for scope in ordered):
            yield from self._directory(own, scope=defaults.PROJECT_TOOLS, kit_id=None, named=named)
        for scope in ordered:
            mine = scope.name == defaults.PROJECT_TOOLS
            yield from self._directory(
                own if mine else scope.directory,
                scope=scope.name,
                kit_id=scope.kit_id,
                named=named,
                linted=mine,
            )

    def _directory(
        self,
        directory: str,
        *,
        scope: str,
        kit_id: str | None,
        named: dict[str, str] | None = None,
        linted: bool = True,
    ) -> Iterator[Finding]:
        named = {} if named is None else named
        uids = tool_directories(directory)
        judged = self._judged_directory(directory, uids, scope=scope, kit_id=kit_id)
        try:
            if linted and self._audit.changed is None:
                judged.begin()
            for uid in uids:
                yield from self._tool(judged, uid, named=named, linted=linted)
        finally:
            judged.end()
        judged.save()

    def _judged_directory(
        self, directory: str, uids: Sequence[str], *, scope: str, kit_id: str | None
    ) -> JudgedDirectory:
        about = About(directory=directory, kit_id=kit_id, scope=scope, around=self._around)
        return JudgedDirectory(about, uids, rules=self._rules, is_kept=self._audit.keeps)

    def _tool(
        self,
        judged: JudgedDirectory,
        uid: str,
        *,
        named: dict[str, str] | None = None,
        linted: bool = True,
    ) -> Iterator[Finding]:
        directory, scope = os.path.join(judged.about.directory, uid), judged.about.scope
        linted = linted and touched(directory, self._audit.changed)
        judgement, digest = judged.of(uid, linted=linted)
        if linted:
            self._audit.counted()
            yield from self._said_of(judgement, directory)
        name, outline = judgement.name, judgement.outline
        if name is None or outline is None or not self._set_rules:
            return
        first = scope if named is None else named.setdefault(name, scope)
        if self._view.rules_about(name, scope):
            digest = ""
            outline = subjects.outline(
                subjects.of_tool(directory, kit_id=judged.about.kit_id),
                scope=scope,
                linted=linted,
                available=first == scope,
                view=self._view,
                around=self._around,
            )
        elif not linted or first != scope:
            outline = replace(outline, linted=linted, available=first == scope)
        self._keep(outline, None, digest=digest)

    def _said_of(self, judgement: Judgement, directory: str) -> Iterator[Finding]:
        """Tell what the settings let be told of a judgement."""
        source = Source(path=os.path.join(directory, defaults.CONFIG_FILE))
        if judgement.reasons:
            ignores = Ignores(source, judgement.reasons, judgement.name)
            self._ignores[directory] = ignores
        by_code = {rule.code: rule for rule in self._rules} if judgement.found else {}
        for located in judgement.found or ():
            if (rule := by_code.get(located.code)) is not None:
                for told in self._kept(
                    rule,
                    located.found,
                    source,
                    self._ignores.get(directory),
                    api="vespe",
                    tool=judgement.name,
                ):
                    yield finding(told, located.pointer, located.place)
        yield from placed(
            self._said("layout-lint-config", judgement.wrong, source, tool=judgement.name)
        )

    def _file(self) -> Iterator[Finding]:
        file = foreign.read(self._place.path)
        if not touched(file.path, self._audit.changed):
            return
        yield from self._troubles(file)
        yield from placed(self._definitions(file))

    def _definitions(self, file: ForeignFile) -> Iterator[Told]:
        for definition in file.definitions:
            subject = subjects.of_definition(definition)
            source = Source(
                path=file.path, kind=file.kind, text=file.text, pointers=subject.pointers
            )
            self._audit.counted()
            yield from self._judged(subject, source)
            if subject.name is not None and self._set_rules:
                self._keep(
                    subjects.outline(subject, scope=file.path, linted=True, available=True),
                    source,
                    group=_request(file, definition),
                )

    def _troubles(self, file: ForeignFile) -> Iterator[Finding]:
        for trouble in file.troubles:
            if not trouble.readable and file.kind != "jsonl":
                self._audit.broken_file = trouble.message
            code = "layout-unrecognised" if trouble.readable else "layout-unreadable"
            rule = next((rule for rule in self._rules if rule.code == code), None)
            if rule and (
                severity := self._settings.severity(rule, Found(message=trouble.message), api="")
            ):
                yield Finding(
                    rule=code,
                    severity=severity,
                    message=trouble.message,
                    path=file.path,
                    pointer=trouble.pointer,
                    line=trouble.line,
                    column=trouble.column,
                )

    def _keep(
        self, outline: Outline, source: Source | None, *, group: str = "", digest: str = ""
    ) -> None:
        """Keep an outline; without a source it is that of a tool directory, which need not be kept
        10,000 times. With a `digest` it follows from what has that.
        """
        outlines, sources, digests = self._sets.setdefault(group, ([], [], []))
        outlines.append(outline)
        sources.append(source)
        digests.append(digest)

    # Judging

    def _judged(
        self, subject: Subject, source: Source, ignores: Ignores | None = None
    ) -> Iterator[Told]:
        for rule, found in found_by(self._rules, subject):
            yield from self._kept(rule, found, source, ignores, api=subject.api, tool=subject.name)

    def _said(
        self, code: str, wrong: Iterable[Wrong], source: Source, *, tool: str | None = None
    ) -> Iterator[Told]:
        """Tell what lint itself has to say, where its rule is asked."""
        rule = next((rule for rule in self._rules if rule.code == code), None)
        for pointer, message in wrong:
            if rule is not None:
                yield from self._kept(
                    rule,
                    Found(message=message, pointer=pointer),
                    source,
                    None,
                    api="vespe",
                    tool=tool,
                )

    def _kept(
        self,
        rule: AnyRule,
        found: Found,
        source: Source,
        ignores: Ignores | None,
        *,
        api: str,
        tool: str | None,
    ) -> Iterator[Told]:
        severity = self._settings.severity(rule, found, api=api)
        if severity and not any(
            one.holds(rule.code) for one in (ignores, self._project_ignores) if one is not None
        ):
            yield Told(rule, found, severity, source, tool)

    def _together(self) -> Iterator[Finding]:
        """Ask the rules over sets; what they say of one definition is told in its file."""
        # A kit is judged for whoever takes it: the project that it happens to lie in need not be
        # where models see its tools.
        bounds = replace(
            self._settings.bounds,
            has_project=self._settings.has_project and self._place.kind != "kit",
            tools_mode=self._settings.tools_mode if self._place.kind == "project" else "all",
        )
        for group, (outlines, sources, digests) in self._sets.items():
            told: dict[int, list[tuple[AnyRule, Found]]] = {}
            judged = JudgedSet(outlines, digests, bounds, self._around)
            name = os.path.abspath(self._place.path) if self._audit.keeps and not group else ""
            for rule, index, found in judged.by(self._set_rules, kept_for=name):
                if index < 0 or outlines[index].linted:
                    told.setdefault(index, []).append((rule, found))
            for index, items in sorted(told.items()):
                one, source = (
                    (outlines[index], sources[index]) if index >= 0 else (None, self._whole())
                )
                yield from placed(self._told_of(one, source, items))

    def _told_of(
        self, one: Outline | None, source: Source | None, items: Iterable[tuple[AnyRule, Found]]
    ) -> Iterator[Told]:
        directory = (one.directory if one else None) or ""
        where = source or Source(path=os.path.join(directory, defaults.CONFIG_FILE))
        for rule, found in items:
            ignores = self._ignores.get(directory) if one else None
            yield from self._kept(
                rule,
                found,
                where,
                ignores,
                api=one.api if one else "vespe",
                tool=one.name if one else None,
            )

    def _whole(self) -> Source:
        """The file that speaks for the set as a whole."""
        place = self._place
        if place.kind == "project":
            return Source(path=shown(project.config_path(place.path)))
        return Source(
            path=os.path.join(place.path, defaults.KIT_CONFIG_FILE)
            if place.kind == "kit"
            else place.path
        )

    def _unused(self) -> Iterator[Finding]:
        """Tell of what is ignored and was never found, where its rule was asked."""
        asked = {rule.code for rule in self._rules} | {rule.code for rule in self._set_rules}
        every = list(self._ignores.values())
        if self._project_ignores and self._place.kind == "project" and self._audit.changed is None:
            every.append(self._project_ignores)
        for one in every:
            unused = [
                code
                for code in one.reasons
                if code not in one.used and (code in asked or code not in RULES)
            ]
            told = [
                (
                    f"/lint/ignore{pointer_to((code,))}",
                    f"{code} is ignored here, and " + _why_unused(code),
                )
                for code in unused
            ]
            yield from placed(self._said("layout-unused-ignore", told, one.source, tool=one.tool))


def _request(file: ForeignFile, definition: Definition) -> str:
    """Name the set that a definition belongs to: a line that wraps definitions is a request of its
    own, in the files of many.
    """
    steps = definition.pointers[""].split("/")
    return steps[1] if file.kind == "jsonl" and len(steps) > 2 else ""


def _why_unused(code: str) -> str:
    return "the rule finds nothing: remove it" if code in RULES else "there is no rule of that code"


def _root_of(place: LintPath) -> str | None:
    """Return the project whose configuration speaks for a place: the nearest `.vespe` above it."""
    here = os.path.abspath(place.path)
    while here != os.path.dirname(here):
        if os.path.isdir(os.path.join(here, defaults.PROJECT_DIR)) and not os.path.islink(
            os.path.join(here, defaults.PROJECT_DIR)
        ):
            return here
        here = os.path.dirname(here)
    return None


def _loadable(opened: workspace.Workspace) -> Iterator[Tool]:
    for entry in opened.available():
        with contextlib.suppress(VespeError):
            yield opened.load(entry)


def _problems_of_kit(document: JsonObject, kit_id: str) -> list[Problem]:
    error = roots.config_problem(document, kit_id)
    return (
        [Problem(defaults.KIT_CONFIG_FILE, error.pointer, error.reason, error.line)]
        if error
        else []
    )


def _problems_of_project(root: str) -> list[Problem]:
    """Say what `vespe` would refuse or warn of in a project's configuration."""
    try:
        warnings = workspace.open_workspace(root).warnings
    except InvalidDocument as error:
        return [Problem(defaults.CONFIG_FILE, error.pointer, error.reason, error.line)]
    except VespeError as error:
        return [Problem(defaults.CONFIG_FILE, "", str(error))]
    return [Problem("", "", warning) for warning in warnings]


def shown(path: str) -> str:
    """Return a path as findings show it: relative to the working directory where it is beneath
    it.
    """
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
