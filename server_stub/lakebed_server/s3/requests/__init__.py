"""S3 requests: their address, headers, body and checksums."""
