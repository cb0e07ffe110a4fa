"""The shapes of the model APIs, one literal table."""
