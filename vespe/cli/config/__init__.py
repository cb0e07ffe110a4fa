"""`vespe config …`: one module for each verb."""
