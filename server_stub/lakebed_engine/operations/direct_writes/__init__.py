"""Objects that clients write to the object store themselves."""
