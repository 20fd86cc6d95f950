"""How the texts of an action file are written: YAML, durations, patterns of branches, and properties of hooks."""
