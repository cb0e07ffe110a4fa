"""What is shown of a kit before it is approved: everything that it would run, read from the very bytes that are installed."""

import contextlib
import os
from dataclasses import dataclass

from vespe import defaults
from vespe.documents import strict_json
from vespe.kits.staging import Staged
from vespe.models import JsonObject
from vespe.schemas import validator
from vespe.trust.review import ToolReview, review_tool


@dataclass(frozen=True, slots=True, kw_only=True)
class KitReview:
    """A kit as it would be approved: its config, its tools, and the files that belong to none of them."""

    kit_id: str
    digest: str
    config: JsonObject
    tools: tuple[ToolReview, ...]
    others: tuple[str, ...]


def get_ready() -> None:
    """Load what a review needs and a start of Vespe does not; who waits for git does this beside it."""
    with contextlib.suppress(ImportError):  # whoever needs it says so
        validator.check_schema({"type": "object"})


def review_kit(staged: Staged) -> KitReview:
    """Gather what a staged kit would run; raises InvalidDocument where its kit_config.json cannot be read, StorageError."""
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
        tools=tuple(_tool(staged, uid, tuple(sorted(files))) for uid, files in sorted(tools.items())),
        others=tuple(sorted(others)),
    )


def _tool(staged: Staged, uid: str, files: tuple[str, ...]) -> ToolReview:
    directory = os.path.join(staged.path, uid)
    return review_tool(directory, files, staged.configs[uid] if uid in staged.configs else _read(directory))


def _read(directory: str) -> bytes:
    path = os.path.join(directory, defaults.CONFIG_FILE)
    small = os.lstat(path).st_size <= defaults.MAX_FILE_BYTES
    return strict_json.read_bytes(path) if small else b""
