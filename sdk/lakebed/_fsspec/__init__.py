"""`lakebed://repository/ref/path` for fsspec, and so for pandas, Polars, DuckDB, Dask and pyarrow.

fsspec finds it by the entry point `fsspec.specs`. The public names are those of `lakebed.fsspec`.
"""
