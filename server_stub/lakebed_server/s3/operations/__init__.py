"""S3 operations: buckets, objects, listings and multipart uploads."""
