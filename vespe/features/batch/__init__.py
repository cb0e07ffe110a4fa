"""Many calls of one tool: from a stream of inputs to a file of outcomes that survives any kill.

Uses the call path and what lies below it; every call goes through it, with its checks, limits and
log. Begin with `local.py`; `outcomes_file.py` says what is kept when a batch is killed,
`dask_cluster.py` and `ray_cluster.py` run on clusters.
"""
