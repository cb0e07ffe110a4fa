"""`vespe mcp login`, `logout` and `status`: one module for each verb."""
