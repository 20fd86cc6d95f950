"""The engine's words: records, errors and injected interfaces. Imports nothing of ours."""
