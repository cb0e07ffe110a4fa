"""`vespe kit …`: one module for each verb."""
