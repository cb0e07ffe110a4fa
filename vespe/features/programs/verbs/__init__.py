"""The verbs of programs: `vespe program`."""
