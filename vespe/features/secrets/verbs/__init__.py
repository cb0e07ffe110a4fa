"""`vespe secret …`: one module for each verb."""
