"""Metrics: what is counted, the memory that the processes share, and the text that Prometheus reads."""
