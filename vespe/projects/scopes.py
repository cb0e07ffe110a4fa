"""Where names are looked for: a project's scopes in the order that its configuration and the kits
on the machine give.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from vespe import defaults
from vespe.models import Kit, ProjectConfig
from vespe.projects import project
from vespe.records import dataclass

_ORDER: Final = "tool_resolution_order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One place that tools come from: `project_tools`, or a kit by its id.

    `directory` holds its tool directories; it may not exist. `active` is false for a kit that the
    project did not activate: none of its tools is available by any name. `ordered` is true where
    plain names are looked for in it; an active scope that is not is reached by qualified names and
    uids alone. `decided_by` is the file and the JSON Pointer (`FILE#/active_kits/0`) that gave the
    scope its place.
    """

    name: str
    directory: str
    kit_id: str | None
    active: bool
    ordered: bool
    decided_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """Every scope once: those that plain names are looked for in, in order, then other active ones,
    then inactive kits.

    `warnings` are sentences on what the configuration names and the machine does not have.
    """

    every: tuple[Scope, ...]
    warnings: tuple[str, ...] = ()

    @property
    def ordered(self) -> tuple[Scope, ...]:
        """The scopes that plain names are looked for in, in order."""
        return tuple(scope for scope in self.every if scope.ordered)


def scopes_of(config: ProjectConfig, kits: Iterable[Kit]) -> Scopes:
    """Put a project's scopes in order; `kits` come in the order of their roots, the hidden and
    broken ones too.

    A scope that the configuration names twice has the first of its places. Pure: it looks at no
    file.
    """
    laid = _Layout(config, kits)
    ordered: dict[str, Scope] = {}
    for scope in laid.in_order():
        ordered.setdefault(scope.name, scope)
    rest = [scope for scope in laid.past_the_order() if scope.name not in ordered]
    return Scopes(every=(*ordered.values(), *rest), warnings=tuple(dict.fromkeys(laid.warnings())))


class _Layout:
    """One configuration laid over the kits of one machine."""

    def __init__(self, config: ProjectConfig, kits: Iterable[Kit]) -> None:
        self._config = config
        self._file = (
            project.config_path(config.root) if config.root else "the configuration that was given"
        )
        self._kits: dict[str, Kit] = {}
        for kit in kits:
            self._kits.setdefault(kit.kit_id, kit)
        self._active: dict[str, int] = {}
        for index, kit_id in enumerate(config.active_kits):
            self._active.setdefault(kit_id, index)

    def in_order(self) -> Iterator[Scope]:
        """The active scopes that the order names, again where it names them again."""
        for index, name in enumerate(self._config.tool_resolution_order):
            place = (
                f"/{_ORDER}/{index}"
                if _ORDER in self._config.document
                else f"/{_ORDER} (the default)"
            )
            if name == defaults.PROJECT_TOOLS:
                yield from self._project(place, ordered=True)
            elif name == defaults.ACTIVE_KITS:
                yield from (
                    self._kit(kit_id, f"/active_kits/{at}", ordered=True)
                    for kit_id, at in self._usable_active()
                )
            elif name in dict(self._usable_active()):
                yield self._kit(name, place, ordered=True)

    def past_the_order(self) -> Iterator[Scope]:
        """Every scope, as it is where the order does not name it: active ones first."""
        yield from self._project(f"/{_ORDER}", ordered=False)
        yield from (
            self._kit(kit_id, f"/active_kits/{at}", ordered=False)
            for kit_id, at in self._usable_active()
        )
        inactive = (
            kit_id
            for kit_id, kit in self._kits.items()
            if kit_id not in self._active and kit.problem is None
        )
        yield from (self._kit(kit_id, "/active_kits", ordered=False) for kit_id in inactive)

    def warnings(self) -> Iterator[str]:
        """What is named and cannot be had."""
        for kit_id, index in self._active.items():
            kit = self._kits.get(kit_id)
            if kit is None:
                yield (
                    f"the active kit {kit_id!r} is in no kit root "
                    f"({self._file}#/active_kits/{index}): `vespe kit deactivate {kit_id}` removes "
                    "it from this project, `vespe kit list` shows the kits that are here"
                )
            elif kit.problem is not None:
                yield f"the active kit {kit_id!r} cannot be used: {kit.problem}"
        for index, name in enumerate(self._config.tool_resolution_order):
            place = f"{self._file}#/{_ORDER}/{index}"
            if name in (*defaults.DEFAULT_ORDER, *self._active):
                continue
            if name in self._kits:
                yield (
                    f"{_ORDER} names the kit {name!r}, which is not active, "
                    f"so its tools are not available ({place})"
                )
            else:
                yield f"{_ORDER} names {name!r}, which is neither a scope nor a kit here ({place})"

    def _usable_active(self) -> Iterator[tuple[str, int]]:
        for kit_id, index in self._active.items():
            kit = self._kits.get(kit_id)
            if kit is not None and kit.problem is None:
                yield kit_id, index

    def _project(self, pointer: str, *, ordered: bool) -> Iterator[Scope]:
        if not self._config.root:
            return
        yield Scope(
            name=defaults.PROJECT_TOOLS,
            directory=project.tools_dir(self._config.root),
            kit_id=None,
            active=True,
            ordered=ordered,
            decided_by=f"{self._file}#{pointer}",
        )

    def _kit(self, kit_id: str, pointer: str, *, ordered: bool) -> Scope:
        return Scope(
            name=kit_id,
            directory=self._kits[kit_id].path,
            kit_id=kit_id,
            active=kit_id in self._active,
            ordered=ordered,
            decided_by=f"{self._file}#{pointer}",
        )
