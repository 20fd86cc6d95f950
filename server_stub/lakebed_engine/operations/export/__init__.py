"""Files of a repository for tools that do not use the engine."""
