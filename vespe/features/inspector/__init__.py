"""`vespe inspect`: a project as pages in a browser, for the person who opened it and nobody else.

Begin with `gate.py` (who is answered), `site.py` (which page an address means) and `inspected.py`
(what the pages know of the project).
"""
