"""A batch on Dask: an existing cluster, or one of its own on this machine.
https://distributed.dask.org
"""

import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from vespe import defaults
from vespe.calls.path import CallPath
from vespe.errors import MissingExtra, Refused, SourceUnavailable
from vespe.features.batch import parcel as parcels
from vespe.features.batch.cluster import Chunk, run_chunk, run_on_engine, with_claim
from vespe.features.batch.items import Item, ItemOutcome
from vespe.features.batch.local import Plan
from vespe.lazy import dask, distributed
from vespe.models import Tool

_CONNECT_S = 15
_PAGES: Final = {
    f"distributed.{who}.http.routes": list[str]() for who in ("scheduler", "worker", "nanny")
}
"""No page of a cluster of our own is served: they tell every user of the machine what runs."""


def run_on_dask(
    items: Iterable[Item], tool: Tool, path: CallPath, plan: Plan, *, address: str = ""
) -> Iterator[ItemOutcome]:
    """Yield the outcome of each item from the cluster whose scheduler is at `address` (HOST:PORT;
    "": one of its own here, which takes nothing from anybody else: mutual TLS with certificates of
    this process alone).

    The workers get the tool's files by digest and use their own configuration and secrets. Raises
    MissingExtra, SourceUnavailable.
    """
    with path.approved(tool) as approved:
        parcel = parcels.pack(approved)
    with _client(address, plan) as client:
        _refuse_other_versions(client)
        engine = _Dask(client, client.submit(_itself, parcel, key=f"vespe-{parcel.digest}"))
        yield from run_on_engine(items, tool, engine, plan)


def _client(address: str, plan: Plan) -> Any:
    try:
        if address:
            kind = "tls" if is_encrypted() else "tcp"
            return distributed.Client(f"{kind}://{address}", timeout=_CONNECT_S)
    except ImportError:
        raise MissingExtra("a batch on Dask", extra="dask", module="distributed") from None
    except OSError as error:
        raise SourceUnavailable(
            f"no Dask scheduler answers at {address}: {error}",
            hint="`dask scheduler` prints its address",
        ) from None
    try:
        # A scheduler runs what it is sent, and any user of this machine reaches its port.
        make = distributed.Client  # its import sets defaults, which `set` would take away again
        with dask.config.set(_PAGES):
            return make(
                n_workers=plan.threads,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
                security=True,
            )
    except ImportError as error:
        missing = "cryptography" if "cryptography" in str(error) else "distributed"
        raise MissingExtra("a batch on Dask", extra="dask", module=missing) from None


def is_encrypted() -> bool:
    """Whether Dask's own configuration has certificates, by which a cluster elsewhere knows its
    users. Raises MissingExtra.
    """
    try:
        return bool(distributed.Security().tls_ca_file)
    except ImportError:
        raise MissingExtra("a batch on Dask", extra="dask", module="distributed") from None


def _refuse_other_versions(client: Any) -> None:
    """Raise Refused if a worker has no Vespe, or another version: it could not run the calls as
    this one does.
    """
    for worker, version in client.run(_version, on_error="return").items():
        if version != defaults.VERSION:
            had = f"Vespe {version}" if isinstance(version, str) else "no working Vespe"
            raise Refused(
                f"the worker {worker} has {had}, and this is {defaults.VERSION}",
                hint="install the same version on every worker",
            )


def _version() -> str:
    return defaults.VERSION


def _itself(value: Any) -> Any:
    return value


@dataclass
class _Claim:
    """Lets a task begin once: the scheduler remembers, whichever worker asks."""

    name: str

    def __call__(self) -> bool:
        event = distributed.Event(self.name)
        if event.is_set():
            return False
        event.set()
        return True


class _Dask:
    def __init__(self, client: Any, parcel: Any) -> None:
        self._client, self._parcel = client, parcel
        self._batch = uuid.uuid4().hex
        self._ended = distributed.as_completed()
        self.threads = max(sum(client.nthreads().values()), 1)

    def submit(self, chunk: Chunk, number: int, *, again: bool) -> Any:
        claimed = chunk if again else with_claim(chunk, _Claim(f"vespe-{self._batch}-{number}"))
        task = self._client.submit(
            run_chunk, self._parcel, claimed, pure=False, key=f"vespe-{self._batch}-{number}"
        )
        self._ended.add(task)
        return task

    def wait(self, handles: Sequence[Any]) -> Any:
        # To ask each of thousands of tasks, at the end of each, would be the driver's whole time.
        return next(self._ended)

    def outcomes(self, handle: Any) -> list[ItemOutcome] | None:
        try:
            return cast("list[ItemOutcome] | None", handle.result())
        except distributed.KilledWorker:
            return None

    def cancel(self, handles: Sequence[Any]) -> None:
        if handles:
            self._client.cancel(list(handles), force=True)
