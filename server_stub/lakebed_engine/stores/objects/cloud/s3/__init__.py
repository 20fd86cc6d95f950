"""Parts of `s3://` that need botocore instead of obstore: credentials, presigned URLs and multipart uploads."""
