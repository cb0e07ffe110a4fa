"""`vespe agent …`: one module for each verb, and how a terminal shows a conversation."""
