"""`vespe inspect`."""
