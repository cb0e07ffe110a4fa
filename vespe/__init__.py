"""Manage the tools that LLM agents call: one definition, resolved, checked, bounded, for every model API."""
