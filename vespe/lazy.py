"""Libraries that few commands need: `from vespe.lazy import yaml` costs nothing until `yaml` is
first used.

`pattern` is a `re.compile` that waits for its first use. Type checkers see the modules themselves.
Modules of Vespe's own that few commands need are imported inside the functions that use them.

Were the libraries imported at once, `vespe tool list` would take 35 ms more processor time, a shell
tool 32 and a Python tool 54.
"""

import contextlib
import importlib
import re
import sys
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import _socket as socket_core
    import asyncio
    import base64
    import binascii
    import concurrent.futures as concurrent_futures
    import ctypes
    import difflib
    import email.utils as email_utils
    import grp
    import hashlib
    import hmac
    import ipaddress
    import logging
    import pwd
    import queue
    import readline
    import secrets
    import shlex
    import shutil
    import socket
    import sqlite3
    import ssl
    import tempfile
    import tomllib
    import traceback
    import unicodedata
    import urllib.parse as urls
    import zlib

    import dask
    import distributed
    import git
    import httpcore2
    import hypothesis
    import hypothesis_jsonschema
    import jsonschema
    import jsonschema_rs
    import jsonschema_specifications  # type: ignore[import-untyped]  # it has no types
    import opentelemetry.exporter.otlp.proto.http.metric_exporter as otlp_metrics
    import opentelemetry.exporter.otlp.proto.http.trace_exporter as otlp_traces
    import opentelemetry.metrics as otel_metrics
    import opentelemetry.propagate as otel_propagate
    import opentelemetry.sdk.metrics as otel_sdk_metrics
    import opentelemetry.sdk.metrics.export as otel_sdk_metrics_export
    import opentelemetry.sdk.resources as otel_sdk_resources
    import opentelemetry.sdk.trace as otel_sdk_trace
    import opentelemetry.sdk.trace.export as otel_sdk_trace_export
    import opentelemetry.trace as otel_trace
    import packaging.requirements as packaging_requirements
    import packaging.specifiers as packaging_specifiers
    import platformdirs
    import pydantic_monty
    import ray
    import referencing
    import rich.box as rich_box
    import rich.console as rich_console
    import rich.table as rich_table
    import rich.text as rich_text
    import tiktoken
    import tomlkit
    import yaml

__all__ = [
    "asyncio",
    "base64",
    "binascii",
    "concurrent_futures",
    "ctypes",
    "dask",
    "difflib",
    "distributed",
    "email_utils",
    "git",
    "grp",
    "hashlib",
    "hmac",
    "httpcore2",
    "hypothesis",
    "hypothesis_jsonschema",
    "ipaddress",
    "jsonschema",
    "jsonschema_rs",
    "jsonschema_specifications",
    "logging",
    "otel_metrics",
    "otel_propagate",
    "otel_sdk_metrics",
    "otel_sdk_metrics_export",
    "otel_sdk_resources",
    "otel_sdk_trace",
    "otel_sdk_trace_export",
    "otel_trace",
    "otlp_metrics",
    "otlp_traces",
    "packaging_requirements",
    "packaging_specifiers",
    "pattern",
    "platformdirs",
    "pwd",
    "pydantic_monty",
    "queue",
    "ray",
    "readline",
    "referencing",
    "rich_box",
    "rich_console",
    "rich_table",
    "rich_text",
    "secrets",
    "shlex",
    "shutil",
    "socket",
    "socket_core",
    "sqlite3",
    "ssl",
    "tempfile",
    "tiktoken",
    "tomlkit",
    "tomllib",
    "traceback",
    "unicodedata",
    "urls",
    "yaml",
    "zlib",
]
_DOTTED: Final = {
    "concurrent_futures": "concurrent.futures",
    "email_utils": "email.utils",
    "otel_metrics": "opentelemetry.metrics",
    "otel_propagate": "opentelemetry.propagate",
    "otel_sdk_metrics": "opentelemetry.sdk.metrics",
    "otel_sdk_metrics_export": "opentelemetry.sdk.metrics.export",
    "otel_sdk_resources": "opentelemetry.sdk.resources",
    "otel_sdk_trace": "opentelemetry.sdk.trace",
    "otel_sdk_trace_export": "opentelemetry.sdk.trace.export",
    "otel_trace": "opentelemetry.trace",
    "otlp_metrics": "opentelemetry.exporter.otlp.proto.http.metric_exporter",
    "otlp_traces": "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "packaging_requirements": "packaging.requirements",
    "packaging_specifiers": "packaging.specifiers",
    "rich_box": "rich.box",
    "rich_console": "rich.console",
    "rich_table": "rich.table",
    "rich_text": "rich.text",
    "socket_core": "_socket",
    "urls": "urllib.parse",
}
LIBRARIES: Final = {name: _DOTTED.get(name, name) for name in __all__ if name != "pattern"}
"""Every name that this module offers, and the module that it stands for."""
_NEEDED: Final = {"jsonschema_rs": ("decimal",)}
"""What a library written in Rust imports by itself: there Ctrl-C would be a panic, here it is a
KeyboardInterrupt.
"""


class LazyModule(ModuleType):
    """Stands for a module and imports it when its first attribute is read."""

    def __getattr__(self, name: str) -> Any:
        for needed in _NEEDED.get(self.__name__, ()):
            importlib.import_module(needed)
        with _without_mail() if self.__name__ == "jsonschema_rs" else contextlib.nullcontext():
            module = importlib.import_module(self.__name__)
        value = getattr(module, name)
        setattr(self, name, value)
        return value


class _Mail(ModuleType):
    """Stands for `email.utils` while one thread imports jsonschema_rs; for every other use it is
    the module itself.
    """

    def __init__(self) -> None:
        super().__init__("email.utils")
        self._importing: int | None = threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.leave()
        return getattr(importlib.import_module(self.__name__), name)

    def leave(self) -> None:
        """Make room for the module."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]

    def parsedate_to_datetime(self, data: str) -> Any:
        """Return the date as it is to jsonschema_rs, which notes when it was built
        (github.com/PyO3/pyo3-built).
        """
        return (
            data
            if threading.get_ident() == self._importing
            else self.__getattr__("parsedate_to_datetime")(data)
        )


@contextlib.contextmanager
def _without_mail() -> Iterator[None]:
    """Keep jsonschema_rs from importing `email.utils`, with sockets and URLs: 8 ms of each command
    for the date when it was built (`python -m tests.benchmarks.tricks`).
    """
    stand_in = None
    if "email.utils" not in sys.modules:
        sys.modules["email.utils"] = stand_in = _Mail()
    try:
        yield
    finally:
        if stand_in is not None:
            stand_in._importing = None
            stand_in.leave()


class _LazyPattern:
    """Stands for a compiled regular expression: most commands look for nothing with most of them,
    and compiling one takes 0.2 ms: 1 ms of `vespe tool list`, 4 of a tool's run.
    """

    def __init__(self, text: Any, flags: int = 0) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    from re import compile as pattern
else:
    pattern = _LazyPattern
    globals().update({name: LazyModule(module) for name, module in LIBRARIES.items()})
