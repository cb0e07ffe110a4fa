"""`vespe kit release`."""
