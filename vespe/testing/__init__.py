"""For the tests of those who write tools: call a tool as a model would, and run its examples.

The code is in the feature `testing`; the pytest plugin is `plugin.py`.
"""

from typing import TYPE_CHECKING

from vespe import features

if TYPE_CHECKING:
    from vespe.features.testing import acall, call, example_results
else:
    _CODE = features.load("testing")
    acall, call, example_results = _CODE.acall, _CODE.call, _CODE.example_results

__all__ = ["acall", "call", "example_results"]
