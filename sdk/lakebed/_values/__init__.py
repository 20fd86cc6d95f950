"""Plain values that the SDK passes around. Pure."""
