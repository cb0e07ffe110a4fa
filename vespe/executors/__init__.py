"""The ways to run a tool, one literal table."""
