"""`vespe tool test`, `observe` and `fuzz`: one module for each verb."""
