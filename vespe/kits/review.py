"""What is shown of a kit before it is approved: everything that it would run, read from the very
bytes that are installed.
"""

import contextlib
import os
from collections.abc import Iterator

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.files import atomic
from vespe.kits.staging import Staged
from vespe.models import JsonObject
from vespe.records import dataclass
from vespe.schemas import validator
from vespe.tools import allowances
from vespe.tools import directory as tool_directory
from vespe.trust.review import ToolReview, review_tool


@dataclass(frozen=True, slots=True, kw_only=True)
class KitReview:
    """A kit as it would be approved: its config, its tools, and the files that belong to none of
    them. `directory` is where it is staged.
    """

    kit_id: str
    digest: str
    config: JsonObject
    tools: tuple[ToolReview, ...]
    others: tuple[str, ...]
    directory: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all its files, those of its tools first."""
        return (
            *(f"{tool.uid}/{path}" for tool in self.tools for path in tool.files),
            *self.others,
        )

    @property
    def excess(self) -> dict[str, list[str]]:
        """What `excess_of` says of it: which tools will not run."""
        return excess_of(self.directory) if self.directory else {}

    def text(self, path: str) -> str | None:
        """Return the text of one of `files`, None where it is not text, or too large to show."""
        try:
            data = atomic.read_bytes(os.path.join(self.directory, path))
            return None if b"\0" in data else data.decode("utf-8")
        except (UnicodeDecodeError, InvalidDocument, StorageError):
            return None


def get_ready() -> None:
    """Load what a review needs and a start of Vespe does not; who waits for git does this beside
    it.
    """
    with contextlib.suppress(ImportError):  # whoever needs it says so
        validator.check_schema({"type": "object"})


def review_kit(staged: Staged) -> KitReview:
    """Gather what a staged kit would run; raises InvalidDocument where its kit_config.json cannot
    be read, StorageError.
    """
    beneath: dict[str, list[str]] = {}
    for path in staged.files:
        top, slash, rest = path.partition("/")
        beneath.setdefault(top if slash else "", []).append(rest if slash else path)
    tools = {uid: files for uid, files in beneath.items() if uid and defaults.CONFIG_FILE in files}
    others = (path for path in staged.files if path.partition("/")[0] not in tools)
    return KitReview(
        kit_id=staged.kit_id,
        digest=staged.digest,
        config=strict_json.read_object(os.path.join(staged.path, defaults.KIT_CONFIG_FILE)),
        tools=tuple(
            _tool(staged, uid, tuple(sorted(files))) for uid, files in sorted(tools.items())
        ),
        others=tuple(sorted(others)),
        directory=staged.path,
    )


def _tool(staged: Staged, uid: str, files: tuple[str, ...]) -> ToolReview:
    directory = os.path.join(staged.path, uid)
    known = {f"{uid}/{defaults.CONFIG_FILE}": staged.configs[uid]} if uid in staged.configs else {}
    return review_tool(
        directory,
        files,
        lambda path: known[path] if path in known else _read(os.path.join(staged.path, path)),
    )


def _read(path: str) -> bytes:
    small = os.lstat(path).st_size <= defaults.MAX_FILE_BYTES
    return atomic.read_bytes(path) if small else b""


def excess_of(directory: str) -> dict[str, list[str]]:
    """Return in sentences where tools in the kit's directory go beyond its kit_config.json, by the
    tool's name: such a tool does not run.
    """
    limits = tool_directory.limits_above(directory)
    if limits == allowances.KitLimits():
        return {}
    beyond: dict[str, list[str]] = {}
    for config in _configs(directory):
        if found := [sentence for _, sentence in allowances.excess(config, limits)]:
            beyond[str(config.get("name") or config.get("uid"))] = found
    return beyond


def refuse_excess(directory: str, kit_id: str) -> None:
    """Raise Refused, which names each tool and what it wants, where a tool in the kit's directory
    goes beyond its kit_config.json.
    """
    beyond = excess_of(directory)
    if beyond:
        said = "; ".join(
            f"its tool {name!r} {' and '.join(found)}" for name, found in beyond.items()
        )
        raise Refused(
            f"the kit {kit_id} exceeds the limits in its kit_config.json, so it is not activated: "
            f"{said}",
            hint=f"its author must either add this to {defaults.KIT_CONFIG_FILE} or remove it "
            "from the tool",
            details={"kit_id": kit_id, "tools": beyond},
        )


def _configs(directory: str) -> Iterator[JsonObject]:
    """Return the config.json of every tool; a broken one never runs, which the listing says."""
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        raise StorageError("read", directory, error) from error
    for path in (
        os.path.join(directory, name, defaults.CONFIG_FILE)
        for name in names
        if not name.startswith(".")
    ):
        with contextlib.suppress(InvalidDocument, StorageError):
            yield strict_json.read_object(path)
