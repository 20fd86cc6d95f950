"""Benchmarks of the server: the REST API, the S3 gateway, and their load generators."""
