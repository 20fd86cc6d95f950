"""The S3 gateway: a second interface to the same engine, for tools that use the S3 API. A bucket is a repository."""
