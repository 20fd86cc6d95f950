"""Benchmarks of Spark, in the environment of `make spark`. `benchmarks/on_spark.py` starts them."""
