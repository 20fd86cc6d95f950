"""The syntax of an action file: YAML, durations, patterns of branches, and properties of hooks."""
