"""Recovery: dump, restore and rebuild of references."""
