"""Sources of an ingest: directories and buckets."""
