"""Agents' runs kept and played again; the code is in the feature `agents`."""

from typing import TYPE_CHECKING

from vespe import features

if TYPE_CHECKING:
    from vespe.features.agents.recordings import RecordingProvider, ReplayProvider
else:
    _CODE = features.load("agents", "recordings")
    RecordingProvider, ReplayProvider = _CODE.RecordingProvider, _CODE.ReplayProvider

__all__ = ["RecordingProvider", "ReplayProvider"]
