"""`vespe mcp …`: one module for each verb."""
