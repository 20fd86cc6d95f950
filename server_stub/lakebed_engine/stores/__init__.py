"""Where state lives: `kv` holds what changes, `objects` holds what never changes."""
