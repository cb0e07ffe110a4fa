"""Whether a new schema still accepts what the old one accepted, and what a caller would have to
change.

Begin with `contracts.py`, which compares two versions of a tool; `inclusion.py` holds the proof.
"""
