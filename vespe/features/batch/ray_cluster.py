"""A batch on Ray: an existing cluster, or one of its own on this machine. https://docs.ray.io"""

import os
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

from vespe.calls.path import CallPath
from vespe.errors import MissingExtra, Refused, SourceUnavailable
from vespe.features.batch import parcel as parcels
from vespe.features.batch.cluster import Chunk, run_chunk, run_on_engine
from vespe.features.batch.items import Item, ItemOutcome
from vespe.features.batch.local import Plan
from vespe.lazy import ray
from vespe.models import Tool

_RETRIES = 3
_WITH_TOKENS: Final = (2, 52)
"""The first Ray whose clusters know their users, by a token."""


def run_on_ray(
    items: Iterable[Item], tool: Tool, path: CallPath, plan: Plan, *, address: str = ""
) -> Iterator[ItemOutcome]:
    """Yield the outcome of each item from the cluster at `address` (HOST:PORT of its client server;
    "": one of its own here, which takes nothing from anybody without its token).

    The workers get the tool's files by digest and use their own configuration and secrets. Raises
    MissingExtra, SourceUnavailable.
    """
    with path.approved(tool) as approved:
        parcel = parcels.pack(approved)
    _connect(address, plan)
    try:
        yield from run_on_engine(items, tool, _Ray(ray.put(parcel)), plan)
    finally:
        ray.shutdown()


def _connect(address: str, plan: Plan) -> None:
    # Ray warns in the future tense about an accelerator variable; the new behaviour is the one that
    # is wanted.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if not address:
        _close_to_others()
    try:
        if address:
            ray.init(f"ray://{address}", logging_level="ERROR", log_to_driver=False)
        else:
            ray.init(
                num_cpus=plan.threads,
                include_dashboard=False,
                logging_level="ERROR",
                log_to_driver=False,
            )
    except ImportError:
        raise MissingExtra("a batch on Ray", extra="ray", module="ray") from None
    except ConnectionError as error:
        raise SourceUnavailable(
            f"no Ray cluster answers at {address}: {error}",
            hint="`ray start --head` prints its address",
        ) from None
    except ValueError as error:  # Ray as it is installed without its client says so by this
        if "ray[client]" not in str(error):
            raise
        raise MissingExtra(
            "a batch on a Ray cluster elsewhere", extra="ray", module="ray[client]"
        ) from None
    except RuntimeError as error:
        raise SourceUnavailable(
            f"Ray does not start here: {error}",
            hint="Ray says more in /tmp/ray/session_latest/logs",
        ) from None


def has_token() -> bool:
    """Whether Ray is set up to say who it is to a cluster elsewhere."""
    return os.environ.get("RAY_AUTH_MODE") == "token"


def _close_to_others() -> None:
    """Have a cluster of our own ask for a token that nobody else has: without one, any user of this
    machine runs code by its ports. Raises Refused for a Ray that knows none.
    """
    if "ray" in sys.modules and not has_token():
        raise Refused(
            "this program imported Ray before RAY_AUTH_MODE was set",
            hint="set RAY_AUTH_MODE=token before `import ray`",
        )
    os.environ["RAY_AUTH_MODE"] = "token"  # Ray reads it when it is imported
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        version = str(ray.__version__)
    except ImportError:
        raise MissingExtra("a batch on Ray", extra="ray", module="ray") from None
    if tuple(int(part) for part in version.split(".")[:2]) < _WITH_TOKENS:
        raise Refused(
            f"Ray {version} lets any user of this machine run code as you while a batch runs",
            hint=f"Ray {'.'.join(map(str, _WITH_TOKENS))} has tokens; `--on dask` needs none",
        )


class _Ray:
    def __init__(self, parcel: Any) -> None:
        self._parcel = parcel
        self._run = ray.remote(run_chunk)
        self.threads = max(int(ray.cluster_resources().get("CPU", 1)), 1)

    def submit(self, chunk: Chunk, number: int, *, again: bool) -> Any:
        # A task that may not run twice is never retried by Ray itself.
        return self._run.options(max_retries=_RETRIES if again else 0).remote(self._parcel, chunk)

    def wait(self, handles: Sequence[Any]) -> Any:
        return ray.wait(list(handles), num_returns=1)[0][0]

    def outcomes(self, handle: Any) -> list[ItemOutcome] | None:
        try:
            return cast("list[ItemOutcome] | None", ray.get(handle))
        except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError):
            return None

    def cancel(self, handles: Sequence[Any]) -> None:
        for handle in handles:
            ray.cancel(handle, force=True)
