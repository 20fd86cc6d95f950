"""The verbs of the engine, by what they are about."""
