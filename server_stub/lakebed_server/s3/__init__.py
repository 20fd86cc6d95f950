"""The S3 gateway: a second face over the same engine, for tools that speak S3. A bucket is a repository."""
