"""`vespe kit import` and `vespe tool import`."""
