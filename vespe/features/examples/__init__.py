"""The examples of tools: run as tests, watched for what they need, and others made up.

Uses the call path and what lies below it; no other feature. Begin with `examples.py`.
"""
