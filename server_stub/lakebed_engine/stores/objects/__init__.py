"""The object store: an interface and its adapters."""
