"""The pytest plugin's public path; its code is in the feature `testing`.

Without that feature it does nothing: pytest loads it wherever Vespe is installed.
"""

from vespe import features

if features.is_present("testing"):
    _CODE = features.load("testing", "plugin")
    pytest_addoption = _CODE.pytest_addoption
    pytest_collect_file = _CODE.pytest_collect_file
    pytest_pycollect_makeitem = _CODE.pytest_pycollect_makeitem
