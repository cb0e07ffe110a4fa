"""`vespe cache …`: one module for each verb."""
