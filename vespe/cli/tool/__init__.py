"""`vespe tool …`: one module for each verb."""
