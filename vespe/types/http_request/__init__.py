"""`http_request`: one HTTP request, made of templates.

Begin with `execution.py`; `templates.py` makes the request.
"""
