"""Benchmarks of the engine and its stores, without a server."""
