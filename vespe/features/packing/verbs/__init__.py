"""`vespe kit pack`."""
