"""PySpark on Lakebed: versioned data read and written by Spark's own readers and writers, one atomic commit per job."""
