"""The stores: `kv` holds mutable state, `objects` holds immutable data."""
