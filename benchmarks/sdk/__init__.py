"""Benchmarks of the SDK."""
