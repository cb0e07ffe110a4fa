"""Results that are too large for a model: it is shown a part with a handle, and reads the rest by
the handle, or passes it on.

Begin with `handles.py`. `previews.py` makes the part that is shown, `reading.py` answers
`read_result`, `references.py` puts what a handle stands for in the place of `{"$result": …}`, and
`kept.py` keeps the results.
"""
