"""The engine's vocabulary: records, errors and injected interfaces. It imports no other package of the engine."""
